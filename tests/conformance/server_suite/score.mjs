// Judges `patchbay serve` by the public conformance suite's server scenarios: it is put in front of
// tests/servers/everything, which passes them all by itself, and is to lose nothing of that.
//
//   score.mjs --npm DIR --patchbay PROGRAM --upstream http|stdio REVISION SCENARIO ...
//
// Plays these, prints a table, and exits with 0 when every one counts: a check of its own succeeded, or was
// only warned of, and none failed. What the suite requires of that revision and is not named here fails too, unless only
// one is played.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const LIMIT_MS = 220_000; // of all that is played: a program is started for nearly each, on a loaded machine
const { values, positionals: [revision, ...scenarios] } = parseArgs({
  allowPositionals: true,
  options: {
    npm: { type: 'string' },
    patchbay: { type: 'string' },
    upstream: { type: 'string' },
  },
});
const modules = join(values.npm, 'node_modules');
const suite = join(modules, '@modelcontextprotocol/conformance');
const everything = resolve(dirname(fileURLToPath(import.meta.url)), '../../servers/everything/server.mjs');
const folder = mkdtempSync(join(tmpdir(), 'patchbay-score-'));
const children = [];

// Its first line on stdout.
async function start(command, args, env = process.env) {
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error(`${command} said nothing`);
}

async function definition() {
  const server = [everything, modules, values.upstream];
  // A program of both eras that is slow to start settles on the legacy one (decision 11).
  const pinned = revision === '2026-07-28' ? { protocol: revision } : {};
  if (values.upstream === 'stdio') return { command: process.execPath, args: server, ...pinned };
  const port = await start(process.execPath, server);
  return { type: 'http', url: `http://127.0.0.1:${port}/mcp` };
}

async function serve() {
  const home = join(folder, 'home');
  mkdirSync(join(home, '.config/patchbay'), { recursive: true });
  writeFileSync(join(home, '.config/patchbay/config.json'),
    JSON.stringify({ mcpServers: { everything: await definition() } }));
  const { XDG_CONFIG_HOME, XDG_STATE_HOME, PATCHBAY_CONFIG, PATCHBAY_CONFIG_JSON, ...env } = process.env;
  return start(values.patchbay, ['serve', '--only', 'everything', '--http', '127.0.0.1:0'],
    { ...env, HOME: home });
}

function play(url) {
  const chosen = scenarios.length === 1
    ? ['--scenario', scenarios[0], '--spec-version', revision]
    : ['--requirements', revision];
  const argv = [join(suite, 'dist/index.js'), 'server', '--url', url, ...chosen, '-o', join(folder, 'out')];
  return new Promise((done) => {
    const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'pipe'] });
    children.push(child);
    let said = '';
    child.stdout.on('data', (data) => (said += data));
    child.stderr.on('data', (data) => (said += data));
    child.on('close', () => done(said));
  });
}

function checksOf(scenario) {
  const name = new RegExp(`^server-${scenario}-\\d{4}-\\d\\d-\\d\\dT`);
  const found = readdirSync(join(folder, 'out')).find((each) => name.test(each));
  const checks = found && join(folder, 'out', found, 'checks.json');
  return checks && existsSync(checks) ? JSON.parse(readFileSync(checks, 'utf8')) : [];
}

function score(scenario) {
  const checks = checksOf(scenario);
  // What the suite adds to every scenario says nothing about this one.
  const own = checks.filter((check) => !check.id.startsWith('wire-schema'));
  const failed = checks.filter((check) => check.status === 'FAILURE');
  // What a server only SHOULD do is warned of.
  const succeeded = own.filter((check) => check.status === 'SUCCESS' || check.status === 'WARNING');
  const counts = succeeded.length > 0 && failed.length === 0;
  console.log(`${counts ? 'counts' : 'FAILS '}  ${revision}  ${scenario}: ${succeeded.length} of ${own.length} checks succeeded`);
  for (const check of failed)
    console.log(`    failed: ${check.id} (${check.name}): ${check.errorMessage ?? check.description} ${JSON.stringify(check.details ?? {}).slice(0, 600)}`);
  return counts;
}

function leftOut() {
  if (scenarios.length === 1) return [];
  const { parse } = createRequire(resolve(suite, 'package.json'))('yaml');
  const { server } = parse(readFileSync(join(suite, 'requirements', `${revision}.yaml`), 'utf8'));
  return server.filter((each) => !scenarios.includes(each));
}

const limit = setTimeout(() => {
  console.log(`not played to the end within ${LIMIT_MS / 1000} s`);
  end(1);
}, LIMIT_MS);
async function end(code) {
  clearTimeout(limit);
  const running = children.filter((child) => child.exitCode === null && child.signalCode === null);
  const gone = running.map((child) => once(child, 'exit'));
  for (const child of running) child.kill();
  await Promise.all(gone);  // they write there until then
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  process.exit(code);
}

try {
  const said = await play(await serve());
  const counting = scenarios.filter(score);
  const missing = leftOut();
  for (const each of missing) console.log(`FAILS   ${revision}  ${each}: it is required, and not named`);
  console.log(`${counting.length} of ${scenarios.length} scenarios count`);
  const all = counting.length === scenarios.length && missing.length === 0;
  if (!all) console.log(said.replace(/^/gm, '    | '));
  end(all ? 0 : 1);
} catch (error) {
  console.log(error.stack);
  end(1);
}
