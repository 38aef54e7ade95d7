// A browser for tests, started as $BROWSER: opens the address, keeps cookies, follows redirects to the end.
//   node browser.mjs [--stop-at PATH] URL     PATH is not visited any more: its address is printed
import { parseArgs } from 'node:util';

const { values, positionals: [start] } =
  parseArgs({ allowPositionals: true, options: { 'stop-at': { type: 'string' } } });
const MOST_HOPS = 20;
const cookies = new Map();  // by origin, then name
let url = start;
for (let hop = 0; hop < MOST_HOPS && url; ++hop) {
  const { origin, pathname } = new URL(url);
  if (pathname === values['stop-at']) {
    console.log(url);
    break;
  }
  const jar = cookies.get(origin) ?? new Map();
  cookies.set(origin, jar);
  const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
  const response = await fetch(url, { redirect: 'manual', headers: cookie ? { cookie } : {} });
  for (const line of response.headers.getSetCookie()) {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(line);
    if (value) jar.set(name, value);
    else jar.delete(name);
  }
  await response.arrayBuffer();
  const next = response.headers.get('location');
  url = next && new URL(next, url).href;
}
