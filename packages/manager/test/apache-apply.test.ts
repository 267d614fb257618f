// deploy/proxy/apply with Apache: what is taken into service, and what leaves the last good configuration there.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApacheProxy, createApache, startApache } from '@manager/harness/engines/apache.ts'
import { proxySecret } from '@manager/harness/callers.ts'
import { type RawCall, rawCall } from './kit/http.ts'
import { useProject } from './kit/project.ts'
import { renderProxy } from './kit/rendered-proxy.ts'

const { service, project } = useProject({ slug: 'shop' })
const folder = mkdtempSync(path.join(tmpdir(), 'apache-apply-test-'))
const shop = 'shop-app.shop.example.com'
// Nobody signs in here.
const provider = { issuer: 'http://127.0.0.1:1', clientId: 'proxy', clientSecret: 'secret' }

let proxy: ApacheProxy
let rendered: string

beforeAll(async () => {
  rendered = await renderProxy(service, {
    form: 'apache',
    management: 'manager.example.com',
    backendUrl: 'http://127.0.0.1:1',
  })
  proxy = await startApache({ managerUrl: service.url, secret: proxySecret, provider, rendered })
}, 180_000)
afterAll(async () => {
  await proxy?.close()
  rmSync(folder, { recursive: true })
})

const ask = (call: RawCall) => rawCall(`http://127.0.0.1:${proxy.port}`, call)
const write = (text: string): string => {
  const file = path.join(folder, 'rendered.conf')
  writeFileSync(file, text)
  return file
}
const needing = (version: string): string =>
  rendered.replace(/^# min_proxy_version: .*$/m, `# min_proxy_version: ${version}`)
const feed = async (name = shop): Promise<number> =>
  (await ask({ path: `/pilet-feed/${project.applicationId}`, host: name })).status
/** The rendered configuration with the application under another host. */
const moved = (text = rendered): string => text.replaceAll(`ServerName ${shop}`, 'ServerName moved.test')

test('[versioning.release-train] a proxy older than min_proxy_version refuses, and what is not good changes nothing', async () => {
  const before = proxy.inService()
  for (const [text, reason] of [
    [
      moved(needing('99.0.0')),
      /^refused: this proxy is 0\.9\.0 and the configuration needs 99\.0\.0 or newer; .*in service stays$/m,
    ],
    [moved().slice(0, -30), /is not complete/],
    [moved().replace('# format: 1', '# format: 2'), /reads format 1 only/],
    [moved().replace('SetEnvIf', 'SetNothing'), /SetNothing[^]*apache does not take it/],
  ] as const) {
    const { code, said } = await proxy.apply(write(text))
    expect([code, said]).toEqual([1, expect.stringMatching(reason)])
    expect(proxy.inService()).toBe(before)
  }
  expect([await feed(), await feed('moved.test')]).toEqual([200, 404])
})

test('a good one is in service after it, and the same again is nothing to do', async () => {
  expect(await proxy.apply(write(moved()))).toEqual({ code: 0, said: 'applied: release 0.9.0, 1 hosts\n' })
  await expect.poll(() => feed('moved.test'), { timeout: 60_000 }).toBe(200)
  await expect.poll(() => feed(), { timeout: 60_000 }).toBe(404)
  expect((await proxy.apply(write(moved()))).said).toMatch(/^unchanged: /)
  expect((await proxy.apply(write(rendered))).code).toBe(0)
  await expect.poll(() => feed(), { timeout: 60_000 }).toBe(200)
})

test('a proxy that does not run keeps its file, and is not started', async () => {
  const asleep = await createApache({ managerUrl: service.url, secret: proxySecret, provider })
  try {
    writeFileSync(path.join(asleep.folder, 'rendered.conf'), rendered)
    const { code, said } = await asleep.apply(write(moved()))
    expect([code, said]).toEqual([1, expect.stringContaining('apache could not be reloaded')])
    // A process that has the number of a server that was killed gets no signal.
    writeFileSync(path.join(asleep.folder, 'pid'), String(process.pid))
    const again = await asleep.apply(write(moved()))
    expect([again.code, again.said]).toEqual([1, expect.stringContaining(`the process ${process.pid} of`)])
    expect(asleep.inService()).toBe(rendered)
  } finally {
    await asleep.close()
  }
})
