// Tests examples/pilet-loader.mjs with pilets that hang for 30 s while others run.
import { afterAll, expect, test } from 'vitest'
import { type PiletProxy, launchBrowser, openPiletPage, startPiletProxy } from './kit/pilet-page.ts'
import { addPackages, setLayer, sha256, signingOf } from './kit/pilet-rows.ts'
import { useProject } from './kit/project.ts'

const { service, project } = useProject()
let proxy: PiletProxy
afterAll(() => proxy.close())

test('a pilet that never ends, in its module or in setup, is given up after 30 s, and stops no other', async () => {
  const programs = {
    good: "export const setup = ({ show }) => show('good')",
    module: 'await new Promise(() => {})',
    setup: "export const setup = ({ show }) => { show('begun'); return new Promise(() => {}) }",
  }
  const { sign } = signingOf(service)
  for (const [name, text] of Object.entries(programs)) {
    const bytes = Buffer.from(text)
    const about = { projectId: project.id, name, version: '1.0.0', hash: sha256(bytes) }
    await addPackages(service.sql, project.id, [
      { name, version: '1.0.0', bytes, signature: await sign(bytes, about) },
    ])
  }
  await setLayer(service.sql, project, 'application', { modules: Object.keys(programs) })
  const { rows } = await service.sql.query<{ id: string; key: string }>(
    "select key_id as id, encode(public_key, 'base64') as key from pilet_signing_keys",
  )
  const keys = Object.fromEntries(rows.map(({ id, key }) => [id, key]))
  proxy = await startPiletProxy(service.url, `/pilet-feed/${project.applicationId}`, () => keys)
  const browser = await launchBrowser()
  const { results, shown } = await openPiletPage(browser, proxy)
  await browser.close()
  const [version, refused] = ['1.0.0', 'loading took longer than 30 s']
  expect(results).toEqual([
    { name: 'good', version, loaded: true },
    { name: 'module', version, refused },
    { name: 'setup', version, refused },
  ])
  expect(shown).toEqual(['begun', 'good'])
})
