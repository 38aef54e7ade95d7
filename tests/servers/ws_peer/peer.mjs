// An MCP server of revision 2025-11-25 over WebSocket that answers `tools/call` as its argument says, mostly badly.
//
//   node peer.mjs BEHAVIOUR
//
// Prints its port and serves until it is killed.
import { createHash } from 'node:crypto';
import net from 'node:net';

const behaviour = process.argv[2];
const TEXT = 1, BINARY = 2, CLOSE = 8, PING = 9;

function frame(opcode, payload, { last = true, reserved = 0, claims } = {}) {
  const body = Buffer.from(payload);
  const size = claims ?? body.length;
  const head = Buffer.alloc(10);
  head[0] = (last ? 0x80 : 0) | reserved | opcode;
  if (size < 126) {
    head[1] = size;
    return Buffer.concat([head.subarray(0, 2), body]);
  }
  if (size < 65536) {
    head[1] = 126;
    head.writeUInt16BE(size, 2);
    return Buffer.concat([head.subarray(0, 4), body]);
  }
  head[1] = 127;
  head.writeBigUInt64BE(BigInt(size), 2);
  return Buffer.concat([head, body]);
}
// As only a client may send it.
function masked(opcode, payload) {
  const mask = [1, 2, 3, 4];
  const bare = frame(opcode, Buffer.from(payload).map((byte, i) => byte ^ mask[i % 4]));
  const head = payload.length < 126 ? 2 : payload.length < 65536 ? 4 : 10;
  bare[1] |= 0x80;
  return Buffer.concat([bare.subarray(0, head), Buffer.from(mask), bare.subarray(head)]);
}
const result = (id, value) => JSON.stringify({ jsonrpc: '2.0', id, result: value });
const said = (id, text = 'hi') => result(id, { content: [{ type: 'text', text }] });
const close = (code, why) => {
  const body = Buffer.alloc(2 + why.length);
  body.writeUInt16BE(code);
  body.write(why, 2);
  return frame(CLOSE, body);
};

// What the socket gets for a call.
const behaviours = {
  fine: (socket, id) => socket.write(frame(TEXT, said(id))),
  fragments: (socket, id) => {
    const text = said(id);
    socket.write(frame(TEXT, text.slice(0, 5), { last: false }));
    socket.write(frame(PING, 'between'));
    for (const byte of text.slice(5, -1)) socket.write(frame(0, byte, { last: false }));
    socket.write(frame(0, text.slice(-1)));
  },
  // Answers once its ping is answered.
  pings: (socket, id) => {
    socket.onPong = (payload) => payload === 'are you there' && socket.write(frame(TEXT, said(id)));
    socket.write(frame(PING, 'are you there'));
  },
  'rest-without-beginning': (socket, id) => socket.write(frame(0, said(id))),
  'beginning-twice': (socket, id) => socket.write(Buffer.concat([frame(TEXT, '{', { last: false }), frame(TEXT, said(id))])),
  binary: (socket, id) => socket.write(frame(BINARY, said(id))),
  reserved: (socket, id) => socket.write(frame(TEXT, said(id), { reserved: 0x40 })),
  masked: (socket, id) => socket.write(masked(TEXT, said(id))),
  'masked-ping': (socket, id) => socket.write(Buffer.concat([masked(PING, ''), frame(TEXT, said(id))])),
  'ping-too-long': (socket) => socket.write(frame(PING, 'x'.repeat(126))),
  'ping-in-parts': (socket) => socket.write(frame(PING, 'x', { last: false })),
  'too-large': (socket, id) => socket.write(frame(TEXT, said(id, 'x'.repeat(200_000)))),
  'claims-too-much': (socket) => socket.write(frame(TEXT, '{', { claims: 2 ** 40 })),
  'too-large-in-parts': (socket) => {
    socket.write(frame(TEXT, '{', { last: false }));
    for (let i = 0; i < 200; ++i) socket.write(frame(0, 'x'.repeat(1000), { last: false }));
  },
  'closes-with-a-code': (socket) => socket.write(close(1011, 'out of ideas')),
  'cut-off': (socket, id) => socket.end(frame(TEXT, said(id)).subarray(0, 20)),
  'ends': (socket) => socket.end(),
};

function answer(socket, text) {
  const { id, method } = JSON.parse(text);
  if (method === 'initialize')
    return socket.write(frame(TEXT, result(id, {
      protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'peer', version: '1' },
    })));
  if (id === undefined) return;
  if (method === 'tools/list')
    return socket.write(frame(TEXT, result(id, { tools: [{ name: 'say', inputSchema: { type: 'object' } }] })));
  if (method === 'tools/call') return behaviours[behaviour](socket, id);
  socket.write(frame(TEXT, JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } })));
}

// One masked frame of the client, or undefined when it is not all there.
function unframed(bytes) {
  if (bytes.length < 6) return undefined;
  let size = bytes[1] & 0x7f, at = 2;
  if (size === 126) [size, at] = [bytes.readUInt16BE(2), 4];
  else if (size === 127) [size, at] = [Number(bytes.readBigUInt64BE(2)), 10];
  if (bytes.length < at + 4 + size) return undefined;
  const mask = bytes.subarray(at, at + 4);
  const payload = Buffer.from(bytes.subarray(at + 4, at + 4 + size)).map((byte, i) => byte ^ mask[i % 4]);
  return { opcode: bytes[0] & 15, payload: payload.toString(), rest: bytes.subarray(at + 4 + size) };
}

function serve(socket) {
  let waiting = Buffer.alloc(0), open = false;
  socket.on('error', () => {});
  socket.on('data', (data) => {
    waiting = Buffer.concat([waiting, data]);
    if (!open) {
      const end = waiting.indexOf('\r\n\r\n');
      if (end < 0) return;
      const head = waiting.subarray(0, end).toString();
      waiting = waiting.subarray(end + 4);
      if (behaviour === 'refuses') return socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n');
      const key = /^sec-websocket-key: *(.*)$/im.exec(head)[1].trim();
      const accept = createHash('sha1').update(key + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest('base64');
      const chosen = behaviour === 'other-subprotocol' ? 'chat' : 'mcp';
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\nSec-WebSocket-Protocol: ${chosen}\r\n\r\n`);
      open = true;
    }
    for (let next; (next = unframed(waiting)); ) {
      waiting = next.rest;
      if (next.opcode === TEXT) answer(socket, next.payload);
      else if (next.opcode === 10) socket.onPong?.(next.payload);
      else if (next.opcode === CLOSE) socket.end(close(1000, ''));
    }
  });
}

const server = net.createServer(serve);
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
