// An MCP server of revision 2025-11-25 over HTTP that answers `tools/call` as its argument says, mostly badly,
// byte by byte on the socket.
//
//   node peer.mjs BEHAVIOUR [--tls CERTIFICATE KEY]
//
// Prints its port and serves until it is killed.
import net from 'node:net';
import tls from 'node:tls';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const [behaviour, , certificate, key] = process.argv.slice(2);

const http = (status, headers, body = '') =>
  `HTTP/1.1 ${status}\r\n${headers.map((line) => line + '\r\n').join('')}\r\n${body}`;
const json = (message, headers = []) => {
  const body = JSON.stringify(message);
  return http('200 OK', ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`, ...headers], body);
};
const result = (id, value) => ({ jsonrpc: '2.0', id, result: value });
const said = (id, text = 'hi') => result(id, { content: [{ type: 'text', text }] });
const event = (message) => `data: ${JSON.stringify(message)}\n\n`;
const openStream = http('200 OK', ['Content-Type: text/event-stream', 'Transfer-Encoding: chunked']);
const chunk = (text) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const stream = (text) => openStream + chunk(text);
const ofJson = ['Content-Type: application/json'];

// What the socket gets for a call; `end` closes it after that.
const behaviours = {
  fine: (socket, id) => socket.write(json(said(id))),
  echoes: (socket, id, head, { arguments: { text, stream } }) =>
    socket.write(stream ? `${openStream}${chunk(event(said(id, text)))}0\r\n\r\n` : json(said(id, text))),
  html: (socket) => socket.write(http('200 OK', ['Content-Type: text/html', 'Content-Length: 6'], '<html>')),
  'html-error': (socket) => socket.write(http('404 Not Found', ['Content-Type: text/html', 'Content-Length: 6'], '<html>')),
  'no-type': (socket) => socket.write(http('200 OK', ['Content-Length: 2'], '{}')),
  'status-500': (socket) => socket.write(http('500 Oops', ['Content-Type: text/plain', 'Content-Length: 4'], 'boom')),
  'status-503': (socket) => socket.write(http('503 Busy', ['Retry-After: 7', 'Content-Length: 0'])),
  'status-403': (socket) => socket.write(http('403 Forbidden', ['Content-Length: 0'])),
  'status-401': (socket) =>
    socket.write(http('401 Unauthorized', ['WWW-Authenticate: Bearer realm="x"', 'WWW-Authenticate: Basic', 'Content-Length: 0'])),
  'endless-headers': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    const more = () => socket.writable && socket.write('X-More: and more\r\n'.repeat(1000), more);
    more();
  },
  'long-header': (socket) => socket.write(`HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(1 << 20)}\r\n\r\n`),
  'no-http': (socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'),
  'chunk-nonsense': (socket) => socket.end(http('200 OK', [...ofJson, 'Transfer-Encoding: chunked'], 'zz\r\n{}\r\n')),
  'chunk-cut-off': (socket) => socket.end(http('200 OK', [...ofJson, 'Transfer-Encoding: chunked'], '5\r\n{"jso')),
  'negative-length': (socket) => socket.end(http('200 OK', [...ofJson, 'Content-Length: -5'], '{}')),
  'cut-off': (socket) => socket.end(http('200 OK', [...ofJson, 'Content-Length: 500'], '{"jsonrpc":')),
  'closes-at-once': (socket) => socket.end(),
  'not-json': (socket) => socket.write(http('200 OK', [...ofJson, 'Content-Length: 5'], '{"a":')),
  'too-much-json': (socket, id) => socket.write(json(said(id, 'x'.repeat(200_000)))),
  'stream-cut-off': (socket) => socket.end(stream('data: {"jsonrpc"')),
  'stream-without-answer': (socket) => socket.end(stream(': nothing\n\n') + '0\r\n\r\n'),
  'event-too-large': (socket) => socket.end(stream(`data: ${'x'.repeat(200_000)}`)),
  'answer-for-nobody': (socket) => socket.end(stream(event(said(987654321))) + '0\r\n\r\n'),
  'answers-twice': (socket, id) => socket.write(stream(event(said(id)) + event(said(id))) + '0\r\n\r\n'),
  'redirect-loop': (socket) => socket.write(http('307 Again', ['Location: /mcp', 'Content-Length: 0'])),
  'redirect-to-get': (socket) => socket.write(http('302 Found', ['Location: /other', 'Content-Length: 0'])),
  // To itself under another name, which is another origin: whoever follows is answered.
  'redirect-across': (socket, id, head) => {
    if (/^host: *127/im.test(head))
      return socket.write(http('307 There', [`Location: http://localhost:${server.address().port}/mcp`, 'Content-Length: 0']));
    socket.write(json(said(id)));
  },
  'redirect-within': (socket, id, head) => {
    if (/^POST \/mcp /.test(head)) return socket.write(http('308 Moved', ['Location: /moved', 'Content-Length: 0']));
    socket.write(json(said(id, /^authorization:/im.test(head) ? 'with a secret' : 'without a secret')));
  },
  'redirect-elsewhere': (socket) => socket.write(http('307 There', ['Location: file:///etc/passwd', 'Content-Length: 0'])),
  'gzip-bomb': (socket) => {
    const bomb = gzipSync(Buffer.alloc(256 << 20, 'x'));
    socket.write(http('200 OK', [...ofJson, 'Content-Encoding: gzip', `Content-Length: ${bomb.length}`]));
    socket.write(bomb);
  },
  'other-encoding': (socket) => socket.end(http('200 OK', [...ofJson, 'Content-Encoding: br', 'Content-Length: 2'], '{}')),
  'never': () => {},
  'drips': (socket) => {
    const timer = setInterval(() => socket.write('H'), 20);
    socket.on('close', () => clearInterval(timer));
  },
};

function answer(socket, head, body) {
  if (head.startsWith('GET ')) return socket.write(http('405 No', ['Content-Length: 0']));
  if (head.startsWith('DELETE ')) return socket.write(http('200 OK', ['Content-Length: 0']));
  const { id, method, params } = JSON.parse(body);
  if (method === 'server/discover')
    return socket.write(json({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } }));
  if (method === 'initialize') {
    const session = behaviour === 'odd-session' ? ['Mcp-Session-Id: caf\u00e9'] : [];
    return socket.write(json(result(id, {
      protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'peer', version: '1' },
    }), session), 'latin1');
  }
  if (id === undefined) return socket.write(http('202 Accepted', ['Content-Length: 0']));
  if (method === 'tools/list')
    return socket.write(json(result(id, { tools: [{ name: 'say', inputSchema: { type: 'object' } }] })));
  if (method === 'tools/call') return (behaviours[behaviour] ?? behaviours.fine)(socket, id, head, params);
  socket.write(json({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } }));
}

// Requests of one connection, one after the other.
function serve(socket) {
  let waiting = Buffer.alloc(0);
  socket.on('error', () => {});
  socket.on('data', (data) => {
    waiting = Buffer.concat([waiting, data]);
    for (;;) {
      const end = waiting.indexOf('\r\n\r\n');
      if (end < 0) return;
      const head = waiting.subarray(0, end).toString('latin1');
      const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
      if (waiting.length < end + 4 + length) return;
      const body = waiting.subarray(end + 4, end + 4 + length).toString();
      waiting = waiting.subarray(end + 4 + length);
      answer(socket, head, body);
    }
  });
}

const server = certificate
  ? tls.createServer({ cert: readFileSync(certificate), key: readFileSync(key) }, serve)
  : net.createServer(serve);
server.on('tlsClientError', () => {});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
