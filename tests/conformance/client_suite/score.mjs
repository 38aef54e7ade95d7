// Judges clients by the public conformance suite, more strictly than its own runner, which passes
// one that says nothing: a scenario counts when it was played to its end, a check of its own succeeded and none failed.
//
//   score.mjs --suite DIR --client COMMAND SCENARIO@REVISION ...    plays these, prints a table; the revision of
//                                                                   an extension's scenario is `extension`
//   score.mjs --suite DIR --required REVISION SCENARIO ...
//                                                                   are these all that it requires?
//
// Exits with 0 when every scenario counts.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    suite: { type: 'string' },
    client: { type: 'string' },
    required: { type: 'string' },
    verbose: { type: 'boolean' },
  },
});

function required(revision) {
  const { parse } = createRequire(resolve(values.suite, 'package.json'))('yaml');
  return parse(readFileSync(join(values.suite, 'requirements', `${revision}.yaml`), 'utf8')).client;
}

function run(scenario, revision, output) {
  const argv = [join(values.suite, 'dist/index.js'), 'client', '--command', values.client,
    '--scenario', scenario, '--timeout', '30000', '-o', output,
    ...(revision === 'extension' ? [] : ['--spec-version', revision])];
  return new Promise((resolve) => {
    const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    child.stdout.on('data', (data) => (said += data));
    child.stderr.on('data', (data) => (said += data));
    child.on('close', () => resolve(said));
  });
}

function checksIn(output) {
  const found = readdirSync(output, { recursive: true }).find((path) => path.endsWith('checks.json'));
  return found ? JSON.parse(readFileSync(join(output, found), 'utf8')) : [];
}

async function score(scenario, revision) {
  const output = mkdtempSync(join(tmpdir(), 'patchbay-score-'));
  try {
    const said = await run(scenario, revision, output);
    const checks = checksIn(output);
    // What the suite adds to every scenario says nothing about this one.
    const own = checks.filter((check) => !check.id.startsWith('wire-schema'));
    const failed = checks.filter((check) => check.status === 'FAILURE');
    const succeeded = own.filter((check) => check.status === 'SUCCESS');
    const played = !said.includes('Client exited with code') && !said.includes('Client timed out');
    return { counts: played && succeeded.length > 0 && failed.length === 0, succeeded, failed, own, said };
  } finally {
    rmSync(output, { recursive: true, force: true });
  }
}

if (values.required) {
  const missing = required(values.required).filter(
    (name) => !positionals.includes(name));
  console.log(missing.length ? `not played: ${missing.join(', ')}` : 'every required scenario is played');
  process.exit(missing.length ? 1 : 0);
}
let counting = 0;
for (const wanted of positionals) {
  const [scenario, revision] = wanted.split('@');
  const { counts, succeeded, failed, own, said } = await score(scenario, revision);
  counting += counts ? 1 : 0;
  console.log(`${counts ? 'counts' : 'FAILS '}  ${revision}  ${scenario}: ${succeeded.length} of ${own.length} checks succeeded`);
  for (const check of failed)
    console.log(`    failed: ${check.id} (${check.name}): ${check.errorMessage ?? check.description} ${JSON.stringify(check.details ?? {}).slice(0, 600)}`);
  if (!counts || values.verbose) console.log(said.replace(/^/gm, '    | '));
}
console.log(`${counting} of ${positionals.length} scenarios count`);
process.exit(counting === positionals.length ? 0 : 1);
