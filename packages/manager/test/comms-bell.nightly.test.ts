// Measures the time from a backend's request until a notification is visible in both tabs of its recipient, in Chromium
// behind nginx.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BellScene, startBellScene } from './kit/comms-bell.ts'
import { waitForTab } from './kit/comms-page.ts'
import { launchBrowser } from './kit/pilet-page.ts'

let browser: Browser
let scene: BellScene
beforeAll(async () => {
  browser = await launchBrowser()
  scene = await startBellScene(browser)
})
afterAll(async () => {
  await browser?.close()
  await scene?.close()
})

/** Returns the time from the start of an emit until every tab shows the notification. */
async function showIn(tabs: readonly Page[], title: string): Promise<number> {
  const shown = tabs.map((tab) =>
    tab.waitForFunction(
      (expected) => document.querySelector('#list li > :first-child')?.textContent === expected,
      title,
    ),
  )
  const start = performance.now()
  await scene.emit(scene.alice, { title })
  await Promise.all(shown)
  return performance.now() - start
}

test('a notification is in both tabs within a second, each of 50 times', async () => {
  const tabs = [await scene.open(scene.alice), await scene.open(scene.alice)]
  for (const tab of tabs) await waitForTab(tab, { note: '' })
  await showIn(tabs, 'the first one')
  const times: number[] = []
  for (let number = 1; number <= 50; number++) times.push(await showIn(tabs, `number ${number}`))
  const sorted = times.toSorted((a, b) => a - b)
  const [p50, worst] = [sorted[25] as number, sorted.at(-1) as number]
  process.stdout.write(`from emit to both tabs: p50 ${p50.toFixed(0)} ms, worst ${worst.toFixed(0)} ms\n`)
  expect(worst).toBeLessThan(1_000)
})
