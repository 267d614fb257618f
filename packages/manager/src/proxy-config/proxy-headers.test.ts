// Tests that the configuration of the reference proxies matches the list in proxy-headers.ts.
// test/proxy-attacks.test.ts sends the headers to the proxies.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { isProxyHeader, proxyHeaderPrefixes, proxyHeaders } from './proxy-headers.ts'

const deploy = new URL('../../../../deploy/proxy/', import.meta.url)
const read = (file: string): string => readFileSync(new URL(file, deploy), 'utf8')
const all = (text: string, form: RegExp): string[] =>
  [...text.matchAll(form)].map(([, name = '']) => name.toLowerCase()).toSorted()

test('Apache removes exactly the names and beginnings of the list', () => {
  const lua = read('apache/caller.lua')
  const [, own = ''] = /local own = \{([^}]*)\}/.exec(lua) ?? []
  const [, prefixes = ''] = /local own_prefixes = \{([^}]*)\}/.exec(lua) ?? []
  expect(all(own, /\['([a-z-]+)'\] = true/g)).toEqual(proxyHeaders)
  expect(all(prefixes.replaceAll('%', ''), /'\^([a-z-]+)'/g)).toEqual(proxyHeaderPrefixes)
  // Headers that Apache removes early must also be in the list.
  for (const name of all(read('apache/httpd.conf'), /^RequestHeader unset (\S+) early$/gm))
    expect([name, isProxyHeader(name)]).toEqual([name, true])
})

test('nginx, which cannot remove names by their beginning, replaces every name of the list', () => {
  const replaced = all(read('nginx/headers.conf'), /^proxy_set_header (\S+) /gm)
  for (const name of proxyHeaders) expect(replaced).toContain(name)
  // The remaining headers are hop-by-hop headers, the host and the credentials.
  const others = replaced.filter((name) => !isProxyHeader(name))
  expect(others).toEqual(['authorization', 'connection', 'host', 'upgrade'])
})
