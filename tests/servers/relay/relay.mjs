// Puts a stdio MCP server behind a WebSocket or the old HTTP+SSE transport, message by message and
// unchanged: each connection gets a process of its own. A peer of the tests, started from build/npm.
//
//   build/npm/bin/node relay.mjs NODE_MODULES ws|sse COMMAND [ARGUMENT ...]
//
// Listens on 127.0.0.1 and prints the port when it does. ws is at /, sse at /sse.
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';

const [modules, transport, command, ...args] = process.argv.slice(2);
const { WebSocketServer } = createRequire(resolve(modules, 'x'))('ws');

function begin(say, ended) {
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    createInterface({ input: child.stdout }).on('line', say);
    child.stdin.on('error', () => {});
    child.on('close', ended);
    return { tell: (message) => child.stdin.write(`${message}\n`), end: () => child.stdin.end() };
}

const sessions = new Map();
let last = 0;
const old = {
    GET(request, response) {
        const id = String(++last);
        response.writeHead(200, { 'Content-Type': 'text/event-stream' });
        response.write(`event: endpoint\ndata: /message?session=${id}\n\n`);
        const server = begin(
            (line) => response.write(`event: message\ndata: ${line}\n\n`), () => response.end());
        sessions.set(id, server);
        response.on('close', () => {
            sessions.delete(id);
            server.end();
        });
    },
    async POST(request, response) {
        const server = sessions.get(new URL(request.url, 'http://x').searchParams.get('session'));
        const chunks = [];
        for await (const chunk of request) chunks.push(chunk);
        server?.tell(Buffer.concat(chunks).toString());
        response.writeHead(server ? 202 : 404).end();
    },
};

const listener = createServer((request, response) => {
    const answer = transport === 'sse' && old[request.method];
    return answer ? answer(request, response) : response.writeHead(404).end();
});
if (transport === 'ws') {
    const sockets = new WebSocketServer({
        server: listener, handleProtocols: (offered) => offered.has('mcp') && 'mcp' });
    sockets.on('connection', (socket) => {
        const server = begin((line) => socket.send(line), () => socket.close());
        socket.on('message', (data) => server.tell(data.toString()));
        socket.on('close', () => server.end());
    });
}
listener.listen(0, '127.0.0.1', () => console.log(String(listener.address().port)));
