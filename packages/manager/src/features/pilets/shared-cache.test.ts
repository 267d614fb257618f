// These tests cover downloads behind an nginx that authenticates users by cookie and caches responses.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startNginx } from '@manager/harness/engines/nginx.ts'
import { type Person, proxySecret } from '@manager/harness/callers.ts'
import { piletPath, uploadPilet } from '@manager/harness/pilets.ts'
import { useProject } from '../../../test/kit/project.ts'

const { service, project, person, member } = useProject()
let proxy: Awaited<ReturnType<typeof startNginx>>
let developer: Person
beforeAll(async () => {
  developer = await member('developer', 'developer')
  const [reader, stranger] = [await member('reader', 'readonly'), await person('stranger')]
  const sessions = Object.entries({ developer, reader, stranger }).map(([name, { id }]) => `${name} ${id};`)
  proxy = await startNginx({
    http: `proxy_cache_path cache keys_zone=pilets:1m use_temp_path=off;
      map $cookie_session $subject { default ''; ${sessions.join(' ')} }`,
    server: `location / {
      proxy_pass ${service.url};
      proxy_set_header X-Proxy-Auth "${proxySecret}";
      proxy_set_header X-Token-Subject $subject;
      proxy_cache pilets;
      add_header X-Cache $upstream_cache_status always;
    }`,
  })
})
afterAll(() => proxy?.close())

test('[pilets.download-cache] a shared cache serves a member their copy, and nobody else', async () => {
  const pilet = { projectId: project.id, name: '@acme/menu', version: '1.0.0', bytes: 'for members' }
  expect((await uploadPilet(service, developer, pilet)).status).toBe(200)
  const download = async (cookie: string | null) => {
    const headers: Record<string, string> = cookie === null ? {} : { cookie: `session=${cookie}` }
    const response = await fetch(proxy.url + piletPath(pilet), { headers })
    const text = await response.text()
    return {
      isServed: text === 'for members',
      status: response.status,
      cache: response.headers.get('x-cache'),
    }
  }
  expect(await download('reader')).toEqual({ isServed: true, status: 200, cache: 'MISS' })
  // The second request proves that the cache stores the response.
  expect(await download('reader')).toEqual({ isServed: true, status: 200, cache: 'HIT' })
  for (const cookie of ['stranger', 'unknown', null]) {
    const { isServed, status } = await download(cookie)
    expect([cookie, isServed, status >= 400]).toEqual([cookie, false, true])
  }
  expect(await download('developer')).toEqual({ isServed: true, status: 200, cache: 'MISS' })
  expect(await download('reader')).toEqual({ isServed: true, status: 200, cache: 'HIT' })
})
