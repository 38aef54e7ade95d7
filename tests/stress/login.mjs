// Many processes share one login whose access token lives 2 s and whose refresh tokens may be used once.
//   node login.mjs BUILD NODE_MODULES [--seconds 60] [--processes 16] [--threads 8] [--life 2]
// Signs in with the command line, lets the workers call, then asks the authorization server what it saw.
// Exits with 0 when no call failed, no refresh token was used twice, nobody had to sign in again, and no
// life of a token saw more than one refresh.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values, positionals: [build, modules] } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '60' }, processes: { type: 'string', default: '16' },
    threads: { type: 'string', default: '8' }, life: { type: 'string', default: '2' },
  },
});
const beside = (path) => fileURLToPath(new URL(path, import.meta.url));
const lines = (child) => createInterface({ input: child.stdout });
const ended = (child) => new Promise((resolve) => child.on('close', (code) => resolve(code)));

const home = mkdtempSync(join(tmpdir(), 'patchbay-stress-'));
const server = spawn(process.execPath, [beside('../servers/oidc/server.mjs'), modules, '--life', values.life],
  { stdio: ['ignore', 'pipe', 'inherit'] });
const port = await new Promise((resolve) => lines(server).once('line', resolve));
const url = `http://127.0.0.1:${port}/mcp`;
let code = 1;
try {
  const login = spawn(join(build, 'bin/patchbay'), ['mcp', 'login', 'guarded', '--set', `servers.guarded.url=${url}`], {
    stdio: 'inherit',
    env: { PATH: process.env.PATH, HOME: home, BROWSER: `${process.execPath} ${beside('../servers/oidc/browser.mjs')}` },
  });
  if (await ended(login)) throw new Error('patchbay mcp login failed');
  const state = join(home, '.local/state/patchbay');
  const workers = await Promise.all(Array.from({ length: Number(values.processes) }, async () => {
    const worker = spawn(join(build, 'bin/patchbay-login-worker'), [state, url, values.seconds, values.threads],
      { stdio: ['ignore', 'pipe', 'inherit'] });
    const said = new Promise((resolve) => lines(worker).once('line', (line) => resolve(JSON.parse(line))));
    return Promise.race([said, ended(worker).then((code) => ({ calls: 0, failures: 1, first_failure: `exit ${code}` }))]);
  }));
  const total = (key) => workers.reduce((sum, worker) => sum + worker[key], 0);
  const stats = await (await fetch(`http://127.0.0.1:${port}/stats`)).json();
  // One refresh a life; renewed ahead of the end, a life is shorter than it could be.
  const most = Math.ceil(Number(values.seconds) / (Number(values.life) / 2)) + 1;
  console.log(`${values.processes} processes x ${values.threads} threads, ${values.seconds} s, tokens of ${values.life} s: ` +
    `${total('calls')} calls, ${total('failures')} failed; ${stats.logins} login, ${stats.refreshes} refreshes ` +
    `(at most ${most}), ${stats.reuses} reuses, ${stats.lives_refreshed_twice} lives refreshed twice`);
  for (const { first_failure } of workers.filter((worker) => worker.failures).slice(0, 3)) console.log(`  ${first_failure}`);
  const well = total('failures') === 0 && total('calls') > 0 && stats.logins === 1 && stats.reuses === 0 &&
    stats.refreshes > 0 && stats.refreshes <= most && stats.lives_refreshed_twice === 0;
  if (stats.errors.length) console.log(`  the server saw: ${stats.errors.slice(0, 5).join('; ')}`);
  code = well ? 0 : 1;
} catch (error) {
  console.error(`login.mjs: ${error.message}`);
} finally {
  server.kill();
  rmSync(home, { recursive: true, force: true });
}
process.exit(code);
