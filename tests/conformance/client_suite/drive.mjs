// The client that the public conformance suite starts: plays one scenario with `patchbay batch` and a
// configuration of one server.
//
//   PATCHBAY=.../patchbay MCP_CONFORMANCE_SCENARIO=NAME node drive.mjs URL
//
// Exits with 0 when the scenario was played and every answer came; whether it was played well is for the
// suite to say.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const DEADLINE_MS = 20_000;

class Batch {
  constructor(program, config, home) {
    const env = { PATH: process.env.PATH, HOME: home, PATCHBAY_CONFIG_JSON: JSON.stringify(config) };
    for (const name of ['ASAN_OPTIONS', 'UBSAN_OPTIONS', 'TSAN_OPTIONS', 'LSAN_OPTIONS'])
      if (process.env[name]) env[name] = process.env[name];
    // Whoever is asked to sign in agrees.
    env.BROWSER = `${process.execPath} ${fileURLToPath(new URL('../../servers/oidc/browser.mjs', import.meta.url))}`;
    this.child = spawn(program, ['batch', '--sign-in'], { env, cwd: home, stdio: ['pipe', 'pipe', 'inherit'] });
    this.waiting = new Map();
    this.ended = new Promise((resolve) => this.child.on('close', resolve));
    this.ended.then(() => this.fail('patchbay batch has ended'));
    this.child.on('error', (error) => this.fail(error.message));
    createInterface({ input: this.child.stdout }).on('line', (line) => this.take(JSON.parse(line)));
    this.last = 0;
  }

  take(answer) {
    if (answer.event) return;
    const waiting = this.waiting.get(answer.id);
    this.waiting.delete(answer.id);
    waiting?.resolve(answer);
  }

  fail(why) {
    for (const { reject } of this.waiting.values()) reject(new Error(why));
    this.waiting.clear();
  }

  // The answer line, an error of the server or of the host included.
  ask(op, members = {}) {
    const id = String(++this.last);
    const answer = new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
    this.child.stdin.write(JSON.stringify({ id, op, ...members }) + '\n');
    return answer;
  }

  async result(op, members) {
    const answer = await this.ask(op, members);
    if (!answer.ok) throw new Error(`${op}: ${JSON.stringify(answer.error)}`);
    return answer.result;
  }

  async end() {
    this.child.stdin.end();
    await this.ended;
  }
}

const tools = async (batch) => (await batch.result('tools/list', { server: 't' })).tools;
const publicName = (tool) => `mcp__t__${tool}`;

const call = (batch, tool, args = {}) =>
  batch.result('tools/call', { name: publicName(tool), arguments: args });

async function callFirstTool(batch) {
  const [{ tool }] = await tools(batch);
  await call(batch, tool, { a: 2, b: 3 });
}

const samples = { string: 'text', integer: 1, number: 1.5, boolean: true };

async function callEveryTool(batch) {
  for (const { tool, inputSchema } of await tools(batch)) {
    const required = inputSchema.required ?? [];
    const args = required.map((name) => [name, samples[inputSchema.properties[name].type]]);
    await call(batch, tool, Object.fromEntries(args));
  }
}

async function resume(batch) {
  const { content } = await call(batch, 'test_reconnection');
  if (!content[0].text.includes('completed')) throw new Error(`another answer: ${content[0].text}`);
}

async function callWhatIsListedOnly(batch) {
  await callEveryTool(batch);
  const unlisted = publicName('invalid_empty_header');
  const answer = await batch.ask('tools/call', { name: unlisted, arguments: { value: 'a' } });
  if (answer.ok) throw new Error(`${unlisted} could be called`);
}

async function useEverything(batch) {
  await callEveryTool(batch);
  for (const { uri } of (await batch.result('resources/list', { server: 't' })).resources) {
    await batch.result('resources/read', { server: 't', uri });
  }
  for (const { name } of (await batch.result('prompts/list', { server: 't' })).prompts) {
    await batch.result('prompts/get', { server: 't', name });
  }
}

async function answerAndRepeat(batch) {
  // Others while one waits for its answers: nothing of it may leak over.
  const names = ['echo_state', 'unrelated', 'no_state', 'no_result_type'];
  await Promise.all(names.map((name) => call(batch, `test_mrtr_${name}`)));
}

async function callAsTold(batch, context) {
  for (const { name, arguments: args } of context.toolCalls) await call(batch, name, args);
}

async function echoTheSchema(batch) {
  const focal = (await tools(batch)).find((tool) => tool.tool === 'json_schema_2020_12_tool');
  await call(batch, 'json_schema_echo', { schema: focal.inputSchema });
}

async function beRefused(batch) {
  const answer = await batch.ask('tools/list', { server: 't' });
  const failed = !answer.ok || (await batch.ask('tools/call', { name: publicName('test-tool') })).ok === false;
  if (!failed) throw new Error('nothing was refused');
}

const CLIENT_METADATA = 'https://conformance-test.local/client-metadata.json';

// How the server's `oauth` table reads for each scenario of authorization; what the suite gives as context.
const signIns = {
  'metadata-default': {}, 'metadata-var1': {}, 'metadata-var2': {}, 'metadata-var3': {},
  'basic-cimd': { oauth: () => ({ client_metadata_url: CLIENT_METADATA }) },
  'scope-from-www-authenticate': {}, 'scope-from-scopes-supported': {}, 'scope-omitted-when-undefined': {},
  'scope-step-up': {}, 'scope-retry-limit': { play: beRefused },
  'token-endpoint-auth-basic': {}, 'token-endpoint-auth-post': {}, 'token-endpoint-auth-none': {},
  'pre-registration': { oauth: ({ client_id, client_secret }) => ({ client_id, client_secret }) },
  '2025-03-26-oauth-metadata-backcompat': {}, '2025-03-26-oauth-endpoint-fallback': {},
  'resource-mismatch': { play: beRefused },
  'offline-access-scope': {}, 'offline-access-not-supported': {},
  'authorization-server-migration': {},
  'iss-supported': {}, 'iss-not-advertised': {},
  'iss-supported-missing': { play: beRefused }, 'iss-wrong-issuer': { play: beRefused },
  'iss-unexpected': { play: beRefused }, 'iss-normalized': { play: beRefused },
  'metadata-issuer-mismatch': { play: beRefused },
  'client-credentials-jwt': {
    oauth: ({ client_id, private_key_pem, signing_algorithm }) =>
      ({ grant: 'client_credentials', client_id, private_key: private_key_pem, signing_alg: signing_algorithm }),
  },
  'client-credentials-basic': {
    oauth: ({ client_id, client_secret }) => ({ grant: 'client_credentials', client_id, client_secret }),
  },
  'enterprise-managed-authorization': {
    oauth: ({ client_id, client_secret, idp_client_id, idp_id_token, idp_token_endpoint }) => ({
      grant: 'enterprise_managed', client_id, client_secret,
      idp_client_id, id_token: idp_id_token, idp_token_url: idp_token_endpoint,
    }),
  },
  'wif-jwt-bearer': { oauth: ({ client_id, valid_jwt }) => ({ grant: 'jwt_bearer', client_id, assertion: valid_jwt }) },
  dpop: { oauth: () => ({ dpop: true }) },
  'dpop-nonce': { oauth: () => ({ dpop: true }) },
};

// How each scenario is played, and what the `client` table of the configuration says for it.
const scenarios = {
  initialize: { play: tools },
  tools_call: { play: callFirstTool },
  'elicitation-sep1034-client-defaults': { play: callEveryTool, client: { elicitation: 'defaults' } },
  'sse-retry': { play: resume },
  'request-metadata': { play: tools },
  'sep-2322-client-request-state': {
    play: answerAndRepeat,
    client: { elicitation: 'fixed', elicitation_content: { confirmed: true } },
  },
  'http-standard-headers': { play: useEverything },
  'http-custom-headers': { play: callAsTold },
  'http-invalid-tool-headers': { play: callWhatIsListedOnly },
  'json-schema-ref-no-deref': { play: tools },
  'json-schema-2020-12-preservation': { play: echoTheSchema },
};

for (const [name, { play = callFirstTool, oauth }] of Object.entries(signIns))
  scenarios[`auth/${name}`] = { play, oauth };

const name = process.env.MCP_CONFORMANCE_SCENARIO;
const url = process.argv[2];
const scenario = scenarios[name];
if (!scenario || !url || !process.env.PATCHBAY) {
  console.error(`drive.mjs: nothing to play for scenario "${name}" at "${url}"; known: ${Object.keys(scenarios).join(', ')}`);
  process.exit(2);
}
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');
const home = mkdtempSync(join(tmpdir(), 'patchbay-conformance-'));
const oauth = scenario.oauth ? { oauth: scenario.oauth(context) } : {};
const config = { servers: { t: { url, ...oauth } }, client: scenario.client ?? {} };
const batch = new Batch(process.env.PATCHBAY, config, home);
const deadline = setTimeout(() => {
  console.error(`drive.mjs: ${name} is not done after ${DEADLINE_MS} ms`);
  batch.child.kill('SIGKILL');
  process.exit(3);
}, DEADLINE_MS);
let code = 0;
try {
  await scenario.play(batch, context);
} catch (error) {
  console.error(`drive.mjs: ${name}: ${error.message}`);
  code = 1;
}
await batch.end();
clearTimeout(deadline);
rmSync(home, { recursive: true, force: true });
process.exit(code);
