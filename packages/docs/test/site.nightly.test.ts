// Tests the built site: build time, search results, accessibility, and that pages load nothing from other origins.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { output } from '../src/site.ts'
import { openPage, serveFolder } from './kit.ts'

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const maxBuildSeconds = 60

let site: Awaited<ReturnType<typeof serveFolder>>
let buildSeconds = Infinity
beforeAll(async () => {
  const startedAt = performance.now()
  execFileSync(process.execPath, [new URL('../src/build.ts', import.meta.url).pathname], { stdio: 'pipe' })
  buildSeconds = (performance.now() - startedAt) / 1_000
  site = await serveFolder(output)
}, 300_000)
afterAll(() => site.close())

test('it builds in time', () => {
  process.stdout.write(`docs build_s=${buildSeconds.toFixed(1)}\n`)
  expect(buildSeconds).toBeLessThan(maxBuildSeconds)
})

/** Questions that readers may ask, with the pages that answer them. */
const questions: Record<string, string[]> = {
  'why did my call fail': ['guides/backends/why-did-my-call-fail'],
  'rotate the master key': ['guides/operators/rotate-the-master-key'],
  'add a member': ['guides/maintainers/add-a-member'],
  'what does 503 mean': ['reference/errors'],
  'restore a backup': ['guides/operators/restore'],
  'upgrade without downtime': ['guides/operators/upgrade'],
  'verify a callback': ['guides/backends/verify-a-callback'],
  'retry a failed run': ['guides/backends/retry-a-failed-run'],
  'cron time zone': ['guides/backends/schedule-calls'],
  'transform JSON to XML': ['guides/backends/transform-a-body'],
  'missing key in a template': ['reference/templates'],
  'publish a pilet': ['guides/frontends/publish-a-pilet', 'start/publish-a-pilet'],
  'pin a version for a tenant': ['guides/frontends/pin-a-version'],
  'translate a text': ['guides/maintainers/translate-a-text'],
  'notify a user': ['guides/backends/notify-a-user'],
  'websocket closes with 4001': ['reference/websocket'],
  'sign in from a terminal': ['guides/maintainers/sign-in-from-a-terminal'],
  'export the audit trail': ['guides/auditors/export-the-audit-trail'],
  'review access': ['guides/auditors/review-access'],
  'configure nginx': ['guides/proxies/configure-nginx'],
}

/** Returns the pages that the search shows, in order and without duplicates. */
async function search(page: Page, question: string): Promise<string[]> {
  const input = page.locator('.VPLocalSearchBox input')
  await input.fill('')
  await input.fill(question)
  // The search box debounces its input.
  await page.waitForTimeout(600)
  const links = await page
    .locator('.VPLocalSearchBox a.result')
    .evaluateAll((all) => all.map((one) => new URL((one as HTMLAnchorElement).href).pathname))
  return [...new Set(links.map((link) => link.replace(/^\//, '').replace(/\.html$/, '')))]
}

test('18 of 20 questions have their page among the first three results', { timeout: 120_000 }, async () => {
  const { page, problems, close } = await openPage(site.url)
  await page.goto(site.url)
  await page
    .getByRole('button', { name: /search/i })
    .first()
    .click()
  let found = 0
  for (const [question, wanted] of Object.entries(questions)) {
    const results = await search(page, question)
    const position = results.findIndex((result) => wanted.includes(result)) + 1
    process.stdout.write(
      `docs search "${question}": ${position === 0 ? `none of ${results.slice(0, 3).join(', ')}` : position}\n`,
    )
    if (position >= 1 && position <= 3) found++
  }
  await close()
  expect(found).toBeGreaterThanOrEqual(18)
  expect(problems).toEqual([])
})

const examined = [
  '',
  'start/run-the-demo.html',
  'guides/backends/why-did-my-call-fail.html',
  'guides/maintainers/work-in-the-console.html',
  'guides/operators/kubernetes.html',
  'reference/graphql/triggers.html',
  'reference/rest/machines.html',
  'reference/configuration.html',
  'reference/errors.html',
  'explanation/architecture.html',
  'decisions/0055-fair-shares.html',
]
describe.each([false, true])('dark: %s', (isDark) => {
  test.each(examined)(
    '/%s is accessible and loads nothing from elsewhere',
    { timeout: 60_000 },
    async (path) => {
      const { page, problems, close } = await openPage(site.url, { isDark })
      await page.goto(`${site.url}/${path}`, { waitUntil: 'networkidle' })
      await page.evaluate(axeSource)
      const violations = await page.evaluate(async () => {
        const { axe } = globalThis as unknown as {
          axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> }
        }
        return (await axe.run()).violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)
      })
      await close()
      expect({ violations, problems }).toEqual({ violations: [], problems: [] })
    },
  )
})

test('a page opens from a disk without a server, with its style and its links', async () => {
  const { page, close } = await openPage('file://')
  await page.goto(`file://${output}guides/backends/register.html`)
  const family = await page.locator('.vp-doc h1').evaluate((heading) => getComputedStyle(heading).fontFamily)
  await page.locator('.vp-doc a[href$="machine-users.html"]').first().click()
  await page.waitForURL(/machine-users\.html$/)
  await close()
  expect(family).toContain('system-ui')
})

test('diagrams are pictures', async () => {
  const { page, problems, close } = await openPage(site.url)
  await page.goto(`${site.url}/explanation/data-model.html`)
  const isDrawn = await page
    .locator('.diagram img.light-only')
    .first()
    .evaluate((image) => (image as HTMLImageElement).naturalWidth > 100)
  await close()
  expect([isDrawn, problems]).toEqual([true, []])
})
