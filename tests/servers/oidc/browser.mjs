// A browser for tests, started as $BROWSER: opens the address, keeps cookies, follows redirects to the end.
//   node browser.mjs URL
let url = process.argv.at(-1);
const cookies = new Map();  // by origin, then name
for (let hop = 0; hop < 20 && url; ++hop) {
  const { origin } = new URL(url);
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
