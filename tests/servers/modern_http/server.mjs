// An MCP server of revision 2026-07-28 and of no earlier one: the TypeScript SDK v2 over Streamable
// HTTP on 127.0.0.1. A peer of the tests, started from build/npm.
//
//   build/npm/bin/node server.mjs NODE_MODULES [PORT]
//     NODE_MODULES   where the SDK is installed
//     PORT           default 0: one that is free; printed as a line of its own when it listens
//
// tools: echo; slow, with progress; where, which says which headers its call came with; ask, which
// needs input; grow, which adds the tool `grown` for everybody. resource: memo://greeting
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [modules, port = '0'] = process.argv.slice(2);
const installed = createRequire(resolve(modules, 'x'));
const load = (name) => import(pathToFileURL(installed.resolve(name)));
const { McpServer, acceptedContent, createMcpHandler, fromJsonSchema, inputRequired } =
    await load('@modelcontextprotocol/server');
const { localhostHostValidation, toNodeHandler } = await load('@modelcontextprotocol/node');

const STEPS = 3;
let grown = false;

const text = (words) => ({ content: [{ type: 'text', text: words }] });
const taking = (properties) =>
    fromJsonSchema({ type: 'object', properties, required: Object.keys(properties) });

// A server for one request: the revision has no sessions.
function serve({ requestInfo }) {
    const server = new McpServer(
        { name: 'modern', version: '1.0.0' },
        { capabilities: { tools: { listChanged: true }, resources: {} } });
    server.registerTool(
        'echo', { inputSchema: taking({ message: { type: 'string' } }) },
        ({ message }) => text(`Echo: ${message}`));
    server.registerTool('slow', { inputSchema: taking({}) }, async (_, { mcpReq }) => {
        const progressToken = mcpReq._meta?.progressToken;
        for (let progress = 1; progressToken !== undefined && progress <= STEPS; ++progress) {
            await mcpReq.notify({
                method: 'notifications/progress',
                params: { progressToken, progress, total: STEPS },
            });
        }
        return text('slowly done');
    });
    server.registerTool(
        'where',
        { inputSchema: taking({ region: { type: 'string', 'x-mcp-header': 'Region' } }) },
        () => text(['Mcp-Method', 'Mcp-Name', 'Mcp-Param-Region']
            .map((name) => `${name}: ${requestInfo.headers.get(name)}`).join('\n')));
    server.registerTool('ask', { inputSchema: taking({}) }, (_, { mcpReq }) => {
        const answer = acceptedContent(mcpReq.inputResponses, 'name');
        if (answer) return text(`Hello ${answer.name}`);
        return inputRequired({
            inputRequests: {
                name: inputRequired.elicit({
                    message: 'Who is there?',
                    requestedSchema: {
                        type: 'object',
                        properties: { name: { type: 'string', default: 'Ada' } },
                    },
                }),
            },
        });
    });
    server.registerTool('grow', { inputSchema: taking({}) }, () => {
        grown = true;
        handler.notify.toolsChanged();
        return text('there is one more');
    });
    if (grown) server.registerTool('grown', { inputSchema: taking({}) }, () => text('new here'));
    server.registerResource('greeting', 'memo://greeting', { mimeType: 'text/plain' },
        ({ href }) => ({ contents: [{ uri: href, mimeType: 'text/plain', text: 'Good morning' }] }));
    return server;
}

const handler = createMcpHandler(serve, {
    legacy: 'reject',
    onerror: (error) => console.error(error.message),
});
const forNode = toNodeHandler(handler);
const isLocal = localhostHostValidation();
const listener = createServer((request, response) => {
    if (isLocal(request, response)) void forNode(request, response);
});
listener.listen(Number(port), '127.0.0.1', () => console.log(String(listener.address().port)));
