// An authorization server (npm oidc-provider) and an MCP server behind it, on one port of 127.0.0.1:
// dynamic registration, PKCE enforced, resource indicators, refresh tokens that may be used once, and a
// person who always agrees. A peer of the tests, started from build/npm.
//
//   build/npm/bin/node server.mjs NODE_MODULES [--life SECONDS]
//     --life   of an access token, default 3600
//
// Prints its port. /mcp is the MCP server (2025-11-25): tool `who` with scope mcp:read, tool `admin` with mcp:write.
// GET /stats: what has happened; POST /revoke: every grant is withdrawn.
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { life: { type: 'string', default: '3600' } },
});
const life = Number(values.life);
const oidc = join(resolve(positionals[0]), 'oidc-provider', 'lib', 'index.js');
console.warn = console.info = () => {};  // oidc-provider's advice for production
const { Provider, errors } = await import(pathToFileURL(oidc));

const stats = { logins: 0, registrations: 0, refreshes: 0, reuses: 0, lives_refreshed_twice: 0, errors: [], calls: 0, unauthorized: 0 };
const http = createServer();
await new Promise((listening) => http.listen(0, '127.0.0.1', listening));
const { port } = http.address();
const issuer = `http://127.0.0.1:${port}`;
const resource = `${issuer}/mcp`;
const scopes = ['mcp:read', 'mcp:write'];
const grants = new Set();
let refreshed = 0;

const provider = new Provider(issuer, {
  scopes: ['openid', 'offline_access'],
  findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
  cookies: { keys: [randomBytes(16).toString('hex')] },
  features: {
    devInteractions: { enabled: false },
    registration: { enabled: true },
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_, indicator) => {
        if (indicator !== resource) throw new errors.InvalidTarget();
        return { scope: scopes.join(' '), audience: resource, accessTokenTTL: life, accessTokenFormat: 'opaque' };
      },
      useGrantedResource: () => true,
    },
  },
  interactions: { url: (_, { uid }) => `/interaction/${uid}` },
  issueRefreshToken: (_, client) => client.grantTypeAllowed('refresh_token'),
  rotateRefreshToken: true,
  ttl: { AccessToken: life, RefreshToken: 86400, Grant: 86400, Interaction: 600, Session: 86400 },
});
provider.on('grant.success', ({ oidc: { params } }) => {
  if (params.grant_type === 'refresh_token') {
    ++stats.refreshes;
    // Sooner than half a life after the one before: the token before was good still.
    if (Date.now() - refreshed < life * 500) ++stats.lives_refreshed_twice;
    refreshed = Date.now();
  }
  if (params.grant_type === 'authorization_code') ++stats.logins;
});
provider.on('registration_create.success', () => ++stats.registrations);
for (const event of ['grant.error', 'authorization.error', 'registration_create.error', 'server_error'])
  provider.on(event, (_, error) => {
    if (/already used|consumed/.test(error.error_detail ?? '')) ++stats.reuses;
    stats.errors.push(`${event}: ${error.message} ${error.error_detail ?? ''}`);
  });
const answerPages = provider.callback();

async function agree(request, response) {
  const { params, prompt, grantId } = await provider.interactionDetails(request, response);
  const grant = grantId
    ? await provider.Grant.find(grantId)
    : new provider.Grant({ accountId: 'alice', clientId: params.client_id });
  grant.addOIDCScope('openid offline_access');
  for (const scope of scopes)
    if (params.scope?.split(' ').includes(scope)) grant.addResourceScope(resource, scope);
  const saved = await grant.save();
  grants.add(saved);
  const result = prompt.name === 'login' ? { login: { accountId: 'alice' } } : { consent: { grantId: saved } };
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true });
}

const send = (response, status, body, headers = {}) => {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
  response.end(body === undefined ? '' : JSON.stringify(body));
};
const challenge = (extra) =>
  ({ 'WWW-Authenticate': `Bearer resource_metadata="${issuer}/.well-known/oauth-protected-resource/mcp", ${extra}` });

const tools = ['who', 'admin'].map((name) => ({ name, inputSchema: { type: 'object' } }));
const methods = {
  initialize: ({ protocolVersion }) =>
    ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'guarded', version: '1' } }),
  ping: () => ({}),
  'tools/list': () => ({ tools }),
  'tools/call': ({ name }, token) => {
    ++stats.calls;
    return { content: [{ type: 'text', text: `${name}: ${token.accountId} with ${token.scope}` }] };
  },
};

async function mcp(request, response) {
  let body = '';
  for await (const part of request) body += part;
  const value = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  const token = value && (await provider.AccessToken.find(value));
  if (!token || token.isExpired || token.aud !== resource) {
    ++stats.unauthorized;
    return send(response, 401, { error: 'invalid_token' }, challenge(`scope="mcp:read"${value ? ', error="invalid_token"' : ''}`));
  }
  if (request.method !== 'POST') return send(response, 405, {});
  const message = JSON.parse(body);
  const wanted = message.params?.name === 'admin' ? 'mcp:write' : 'mcp:read';
  if (message.method === 'tools/call' && !token.scope?.split(' ').includes(wanted))
    return send(response, 403, { error: 'insufficient_scope' }, challenge(`error="insufficient_scope", scope="${wanted}"`));
  if (message.id === undefined) return send(response, 202);
  const method = methods[message.method];
  if (!method || !request.headers['content-type']?.startsWith('application/json'))
    return send(response, 200, { jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'Method not found' } });
  return send(response, 200, { jsonrpc: '2.0', id: message.id, result: method(message.params ?? {}, token) });
}

http.on('request', async (request, response) => {
  const { pathname } = new URL(request.url, issuer);
  try {
    if (pathname === '/mcp') await mcp(request, response);
    else if (pathname === '/.well-known/oauth-protected-resource/mcp')
      send(response, 200, { resource, authorization_servers: [issuer], scopes_supported: scopes });
    else if (pathname.startsWith('/interaction/')) await agree(request, response);
    else if (pathname === '/stats') send(response, 200, stats);
    else if (pathname === '/revoke') {
      for (const id of grants) {
        for (const kind of ['AccessToken', 'RefreshToken']) await provider[kind].revokeByGrantId(id);
        await (await provider.Grant.find(id))?.destroy();
      }
      send(response, 200, {});
    } else answerPages(request, response);
  } catch (error) {
    stats.errors.push(String(error));
    if (!response.headersSent) send(response, 500, { error: String(error) });
  }
});
process.stdout.write(`${port}\n`);
