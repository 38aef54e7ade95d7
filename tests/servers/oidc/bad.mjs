// An MCP server and an authorization server that misbehave in one way each, chosen by the path:
// http://127.0.0.1:PORT/MODE/mcp. Prints its port. `fine` does everything right; the others are below.
//   node bad.mjs
import { createServer } from 'node:http';

let given = 0;
const send = (response, status, body, headers = {}) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
  response.end(text);
};
// Never all of it.
const drip = (response) => {
  response.writeHead(200, { 'Content-Type': 'application/json' });
  const timer = setInterval(() => response.write(' '), 500);
  response.on('close', () => clearInterval(timer));
};
const html = (response, status = 200) =>
  send(response, status, '<html>Maintenance</html>', { 'Content-Type': 'text/html' });

const http = createServer(async (request, response) => {
  const { origin, pathname, searchParams } = new URL(request.url, `http://${request.headers.host}`);
  let body = '';
  for await (const part of request) body += part;
  if (/^\/\.well-known\/[a-z-]+$/.test(pathname)) return send(response, 404, {});  // of no mode
  const wellKnown = /^\/\.well-known\/([a-z-]+)\/([a-z0-9-]+)\/(mcp|as)$/.exec(pathname);
  const mode = wellKnown?.[2] ?? pathname.split('/')[1];
  const what = wellKnown ? wellKnown[1] : pathname.slice(mode.length + 2);
  const issuer = `${origin}/${mode}/as`;
  const page = {
    'oauth-protected-resource': () => {
      if (mode === 'prm-missing') return send(response, 404, {});
      if (mode === 'prm-huge') return send(response, 200, { resource: 'x'.repeat(1 << 20) });
      if (mode === 'prm-html') return html(response);
      const servers = {
        'as-link-local': 'https://169.254.169.254/', 'as-private': 'https://10.255.255.1/', 'as-plain': 'http://192.0.2.1/',
      };
      send(response, 200, {
        resource: mode === 'prm-other' ? 'https://elsewhere.example/mcp' : `${origin}/${mode}/mcp`,
        authorization_servers: [servers[mode] ?? issuer],
      });
    },
    'oauth-authorization-server': () => {
      if (mode === 'as-missing') return send(response, 404, {});
      if (mode === 'as-slow') return drip(response);
      if (mode === 'as-huge') return send(response, 200, { issuer, padding: 'x'.repeat(1 << 20) });
      if (mode === 'as-redirects') return send(response, 302, '', { Location: request.url });
      const endpoints = {
        issuer: mode === 'as-other-issuer' ? 'https://attacker.example' : issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        registration_endpoint: `${issuer}/register`,
        code_challenge_methods_supported: ['S256'],
      };
      if (mode === 'as-javascript') endpoints.authorization_endpoint = 'javascript:alert(1)';
      if (mode === 'as-file') endpoints.token_endpoint = 'file:///etc/passwd';
      if (mode === 'as-no-s256') endpoints.code_challenge_methods_supported = ['plain'];
      if (mode === 'as-no-registration') delete endpoints.registration_endpoint;
      if (mode === 'as-odd') endpoints.token_endpoint = 7;
      send(response, 200, endpoints);
    },
    'as/register': () => send(response, 201, { ...JSON.parse(body), client_id: 'client' }),
    'as/authorize': () => {
      const back = new URL(searchParams.get('redirect_uri'));
      if (mode.startsWith('denied')) back.searchParams.set('error', 'access_denied');
      else back.searchParams.set('code', 'code');
      if (mode === 'denied-loudly') back.searchParams.set('error_description', `\x1b[31mred\r\nforged: line ${'!'.repeat(5000)}`);
      if (mode === 'iss-wrong') back.searchParams.set('iss', 'https://attacker.example');
      if (mode !== 'state-missing') back.searchParams.set('state', mode === 'state-wrong' ? 'x' : searchParams.get('state'));
      send(response, 302, '', { Location: back.href });
    },
    'as/token': () => {
      const refreshing = new URLSearchParams(body).get('grant_type') === 'refresh_token';
      if (mode === 'token-html') return html(response);
      if (mode === 'token-huge') return send(response, 200, { access_token: 'x'.repeat(1 << 20), token_type: 'Bearer' });
      if (mode === 'token-control')
        return send(response, 200, { access_token: 'x\r\nInjected: 1', token_type: 'Bearer' });
      if (mode === 'token-empty') return send(response, 200, { token_type: 'Bearer' });
      if (mode === 'refresh-revoked' && refreshing) return send(response, 400, { error: 'invalid_grant' });
      if (mode === 'refresh-500' && refreshing) return html(response, 500);
      send(response, 200, {
        access_token: `token-${++given}`, refresh_token: `refresh-${given}`,
        token_type: mode === 'token-odd-type' ? 'mac' : 'Bearer',
        expires_in: mode === 'token-negative' ? -5 : 3600,
      });
    },
    mcp: () => {
      if (request.headers.authorization !== `Bearer token-${given}`)
        return send(response, 401, {}, { 'WWW-Authenticate': 'Bearer' });
      if (request.method !== 'POST') return send(response, 405, {});
      const { id, method, params } = JSON.parse(body);
      if (id === undefined) return send(response, 202, '');
      const results = {
        initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'bad', version: '1' } },
        'tools/list': { tools: [{ name: 'who', inputSchema: { type: 'object' } }] },
        'tools/call': { content: [{ type: 'text', text: 'it works' }] },
      };
      const answer = results[method] ? { result: results[method] } : { error: { code: -32601, message: 'no such method' } };
      send(response, 200, { jsonrpc: '2.0', id, ...answer });
    },
  }[what];
  if (page) page();
  else send(response, 404, {});
});
http.listen(0, '127.0.0.1', () => process.stdout.write(`${http.address().port}\n`));
