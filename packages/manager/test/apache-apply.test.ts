// Tests deploy/proxy/apply with Apache. The script activates valid configurations. It rejects invalid ones and keeps
// the last valid configuration active.
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
// No identity provider is needed, because these tests do not sign in.
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
/** Returns the rendered configuration with the application moved to a different host. */
const moved = (text = rendered): string => text.replaceAll(`ServerName ${shop}`, 'ServerName moved.test')

test('[versioning.release-train] a proxy older than min_proxy_version refuses, and what is not good changes nothing', async () => {
  const before = proxy.activeConfiguration()
  for (const [text, reason] of [
    [
      moved(needing('99.0.0')),
      /^rejected: this proxy is 0\.9\.0 and the configuration requires 99\.0\.0 or newer; .*active configuration stays$/m,
    ],
    [moved().slice(0, -30), /is incomplete/],
    [moved().replace('# format: 1', '# format: 2'), /supports only format 1/],
    [moved().replace('SetEnvIf', 'SetNothing'), /SetNothing[^]*apache rejects it/],
  ] as const) {
    const { code, output } = await proxy.apply(write(text))
    expect([code, output]).toEqual([1, expect.stringMatching(reason)])
    expect(proxy.activeConfiguration()).toBe(before)
  }
  expect([await feed(), await feed('moved.test')]).toEqual([200, 404])
})

test('a good one is in service after it, and the same again is nothing to do', async () => {
  expect(await proxy.apply(write(moved()))).toEqual({ code: 0, output: 'applied: release 0.9.0, 1 hosts\n' })
  await expect.poll(() => feed('moved.test'), { timeout: 60_000 }).toBe(200)
  await expect.poll(() => feed(), { timeout: 60_000 }).toBe(404)
  expect((await proxy.apply(write(moved()))).output).toMatch(/^unchanged: /)
  expect((await proxy.apply(write(rendered))).code).toBe(0)
  await expect.poll(() => feed(), { timeout: 60_000 }).toBe(200)
})

test('a proxy that does not run keeps its file, and is not started', async () => {
  const asleep = await createApache({ managerUrl: service.url, secret: proxySecret, provider })
  try {
    writeFileSync(path.join(asleep.folder, 'rendered.conf'), rendered)
    const { code, output } = await asleep.apply(write(moved()))
    expect([code, output]).toEqual([1, expect.stringContaining('apache failed to reload')])
    // After a server is killed, an unrelated process may reuse its pid. The script must not send a signal to
    // that process.
    writeFileSync(path.join(asleep.folder, 'pid'), String(process.pid))
    const again = await asleep.apply(write(moved()))
    expect([again.code, again.output]).toEqual([1, expect.stringContaining(`the process ${process.pid} in`)])
    expect(asleep.activeConfiguration()).toBe(rendered)
  } finally {
    await asleep.close()
  }
})
