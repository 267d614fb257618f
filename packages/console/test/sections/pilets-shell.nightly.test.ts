// A package that a person uploads in the console runs in the example shell of a tenant.
import { ensureConsoleBuild } from '@manager/harness/console-build.ts'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DemoScene, openTab, startDemoScene } from '../../../manager/test/kit/demo.ts'
import { npmPack } from '../../../manager/test/kit/npm-pack.ts'
import { launchBrowser } from '../../../manager/test/kit/pilet-page.ts'
import { piletName, projectSlug } from '../../../manager/tools/demo-world.ts'
import { chooseFiles, findUpload, toFile } from '../kit/pilet-packages.ts'

let browser: Browser
let scene: DemoScene
beforeAll(async () => {
  await ensureConsoleBuild()
  ;[browser, scene] = await Promise.all([launchBrowser(), startDemoScene()])
})
afterAll(async () => {
  await browser?.close()
  await scene?.close()
})

test('an uploaded package replaces the pilet in the shell of a tenant', async () => {
  const file = toFile(
    'bloom-stock-9.0.0.tgz',
    npmPack(
      { name: piletName, version: '9.0.0', main: 'dist/lilies.js' },
      {
        'dist/lilies.js':
          "export const setup = ({ addSection }) => { addSection('Lilies').append('Uploaded in the console') }\n",
      },
    ),
  )
  const shop = await openTab(browser, scene.addresses.shop)
  await shop.tab.getByRole('heading', { name: 'Tulips' }).waitFor()

  const { tab, complaints } = await openTab(
    browser,
    `${scene.addresses.console}/console/p/${projectSlug}/pilets`,
    { viewport: { width: 1280, height: 800 } },
  )
  await tab.getByRole('button', { name: 'Upload', exact: true }).click()
  await chooseFiles(tab, [file], () => tab.getByRole('button', { name: 'Choose files' }).click())
  await tab.getByRole('button', { name: 'Upload 1 file' }).click()
  await findUpload(tab, file.name).getByText('uploaded, enabled').waitFor()
  expect(complaints).toEqual([])

  await shop.tab.reload()
  await shop.tab.getByRole('heading', { name: 'Lilies' }).waitFor()
  await shop.tab.getByText('Uploaded in the console').waitFor()
  expect(await shop.tab.getByRole('heading', { name: 'Tulips' }).count()).toBe(0)
  expect(shop.complaints).toEqual([])
})
