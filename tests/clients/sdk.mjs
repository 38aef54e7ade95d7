// A client of the MCP project's own SDK before an MCP server over stdio or HTTP
// (v1 also HTTP with SSE, where the URL ends in /sse): does what an agent does,
// and prints what came of it as one JSON object.
//   node sdk.mjs v1|v2 NODE_MODULES URL|COMMAND [ARGS ...]
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [sdk, modules, command, ...args] = process.argv.slice(2);
const resolve = createRequire(modules + '/x.js').resolve;
const load = (name) => import(pathToFileURL(resolve(name)).href);

const capabilities = { sampling: {}, elicitation: {}, roots: {} };
const answers = {
  'elicitation/create': async () => ({ action: 'accept', content: { name: 'Ada' } }),
  'sampling/createMessage': async () => ({ role: 'assistant', content: { type: 'text', text: 'sampled' }, model: 'm' }),
  'roots/list': async () => ({ roots: [{ uri: 'file:///somewhere', name: 'somewhere' }] }),
};

const url = command.startsWith('http') ? new URL(command) : undefined;

async function connect() {
  const options = { command, args, env: process.env, stderr: 'inherit' };
  if (sdk === 'v1') {
    const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
    const { StdioClientTransport } = await load('@modelcontextprotocol/sdk/client/stdio.js');
    const { StreamableHTTPClientTransport } = await load('@modelcontextprotocol/sdk/client/streamableHttp.js');
    const { SSEClientTransport } = await load('@modelcontextprotocol/sdk/client/sse.js');
    const types = await load('@modelcontextprotocol/sdk/types.js');
    const client = new Client({ name: 'sdk', version: '1' }, { capabilities });
    client.setRequestHandler(types.ElicitRequestSchema, answers['elicitation/create']);
    client.setRequestHandler(types.CreateMessageRequestSchema, answers['sampling/createMessage']);
    client.setRequestHandler(types.ListRootsRequestSchema, answers['roots/list']);
    const Http = url?.pathname.endsWith('/sse') ? SSEClientTransport : StreamableHTTPClientTransport;
    await client.connect(url ? new Http(url) : new StdioClientTransport(options));
    return { client, call: (params, onprogress) => client.callTool(params, undefined, { onprogress }) };
  }
  const dist = pathToFileURL(modules + '/@modelcontextprotocol/client/dist/').href;
  const { Client, StreamableHTTPClientTransport } = await import(dist + 'index.mjs');
  const { StdioClientTransport } = await import(dist + 'stdio.mjs');
  const client = new Client({ name: 'sdk', version: '2' }, { capabilities, versionNegotiation: { mode: 'auto' } });
  for (const [method, answer] of Object.entries(answers)) client.setRequestHandler(method, answer);
  await client.connect(url ? new StreamableHTTPClientTransport(url) : new StdioClientTransport(options));
  return { client, call: (params, onprogress) => client.callTool(params, { onprogress }) };
}

const { client, call } = await connect();
const tool = (name, args = {}) => ({ name: 'mcp__every__' + name, arguments: args });
const seen = { server: client.getServerVersion().name, progress: 0 };
seen.version = client.getNegotiatedProtocolVersion?.() ?? 'legacy';
// Servers that are slower than the first list join later.
const ofEach = ['mcp__every__', 'mcp__memory__'];
for (const end = Date.now() + 40_000; Date.now() < end; await new Promise((next) => setTimeout(next, 100))) {
  seen.tools = (await client.listTools()).tools.map((each) => each.name);
  if (ofEach.every((server) => seen.tools.some((name) => name.startsWith(server)))) break;
}
seen.echo = (await call(tool('echo', { message: 'hi' }))).content[0].text;
seen.structured = (await call(tool('get-structured-content', { location: 'Chicago' }))).structuredContent;
seen.elicited = JSON.stringify(await call(tool('trigger-elicitation-request')));
seen.sampled = JSON.stringify(await call(tool('trigger-sampling-request', { prompt: 'x' })));
await call(tool('trigger-long-running-operation', { duration: 0.3, steps: 3 }), () => ++seen.progress);
seen.prompts = (await client.listPrompts()).prompts.map((each) => each.name);
seen.prompt = JSON.stringify(await client.getPrompt({ name: 'mcp__every__args-prompt', arguments: { city: 'Paris' } }));
const { resources } = await client.listResources();
seen.read = (await client.readResource({ uri: resources[0].uri })).contents[0].uri === resources[0].uri;
seen.completed = (await client.complete({
  ref: { type: 'ref/prompt', name: 'mcp__every__completable-prompt' },
  argument: { name: 'department', value: 'E' },
})).completion.values;
await client.close();
console.log(JSON.stringify(seen));
