// Secrets in the settings are visible only while a person shows them, and leave no trace anywhere else.
import { beforeAll, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { findText } from './kit/find-text.ts'
import { useConsole } from './kit/scene.ts'
import { seedSettings } from './kit/seed-settings.ts'
import { createWalk } from './kit/walk.ts'

const scene = useConsole()
const secret = 'correct horse battery staple'
beforeAll(async () => {
  await seedSettings(scene.service.sql, scene.project, 'tenant', { 'smtp.password': secret })
})

/** Returns the places that contain the text, except the results of reads, which the open page needs. */
const findTraces = async (page: Page, text: string): Promise<string[]> =>
  (await findText(page, text)).filter((place) => !place.startsWith('read: '))

test('a text is found wherever a page can keep it', async () => {
  const visit = await scene.visit(scene.admin)
  const { page, context } = visit
  await createWalk(visit).go('/p/main/tenants')
  expect(await findText(page, secret)).toEqual([])
  await page.evaluate(async (text) => {
    document.querySelector('h1')?.setAttribute('title', `the ${text}!`)
    document.querySelector('h1')?.append(text)
    const input = document.querySelector('input')
    if (input !== null) input.value = text
    localStorage.setItem('one', JSON.stringify({ text }))
    sessionStorage.setItem(text, 'two')
    await (await caches.open('three')).put('/four', new Response(text))
    const request = indexedDB.open('five')
    request.addEventListener('upgradeneeded', () => request.result.createObjectStore('six').add({ text }, 1))
    await new Promise((resolve) => request.addEventListener('success', resolve))
    request.result.close()
    window.name = text
    // The router would read a new address, so only the state changes here.
    history.replaceState({ ...history.state, text }, '')
  }, secret)
  await context.addCookies([{ name: 'seven', value: encodeURIComponent(secret), url: page.url() }])
  await page.evaluate((text) => fetch(`/console/icon.svg?${encodeURIComponent(text)}`), secret)
  const places = await findText(page, secret)
  const kinds = [
    'document: all text',
    'document: attribute title',
    'document: value of <input',
    'document: text of <h1',
    'localStorage: one',
    'sessionStorage:',
    'caches: three',
    'indexedDB: five six',
    'cookie: seven',
    'address: window name',
    'address: request',
    'history: state',
  ]
  expect(kinds.filter((kind) => !places.some((place) => place.startsWith(kind)))).toEqual([])
})

test('a secret setting is shown on demand only, and leaves the page with the settings', async () => {
  const visit = await scene.visit(scene.admin)
  const { page } = visit
  const { go, settle } = createWalk(visit)
  await go(`/p/main/settings?tenant=${scene.project.tenantId}`)
  await page.getByText('smtp.password').waitFor()
  // The page has read the value, but shows dots.
  expect((await findText(page, secret)).length).toBeGreaterThan(0)
  expect(await findTraces(page, secret)).toEqual([])

  await page.getByRole('button', { name: 'Show the values of smtp.password' }).click()
  expect((await findTraces(page, secret)).every((place) => place.startsWith('document: '))).toBe(true)
  expect(await findTraces(page, secret)).not.toEqual([])
  await page.getByRole('button', { name: 'Hide the values of smtp.password' }).click()
  expect(await findTraces(page, secret)).toEqual([])

  const newSecret = 'tr0ub4dor & 3'
  await page.getByRole('button', { name: 'smtp.password in layer Tenant', exact: true }).click()
  await page.getByRole('textbox', { name: 'smtp.password in layer Tenant' }).fill(newSecret)
  await page.keyboard.press('Enter')
  expect(await findTraces(page, newSecret)).toEqual([])
  await page.getByRole('button', { name: 'Review and save' }).click()
  const review = page.getByRole('dialog')
  await review.getByText('smtp.password').waitFor()
  expect(await findTraces(page, newSecret)).toEqual([])
  await review.getByRole('button', { name: 'Save' }).click()
  await review.waitFor({ state: 'detached' })
  await settle()
  expect(await findTraces(page, newSecret)).toEqual([])

  await go('/p/main/applications')
  expect(await findText(page, secret)).toEqual([])
  expect(await findText(page, newSecret)).toEqual([])
})

test('the panel of a tenant and the access matrix count a secret setting, but do not show it', async () => {
  const marked = 'another secret value'
  await seedSettings(scene.service.sql, scene.project, 'tenant', { 'api.token': marked })
  const visit = await scene.visit(scene.admin)
  const { page } = visit
  const { go } = createWalk(visit)
  for (const path of [
    `/p/main/tenants?open=${scene.project.tenantId}`,
    `/p/main/tenants?open=${scene.project.tenantId}&tab=settings`,
    '/p/main/access',
  ]) {
    await go(path)
    expect([path, await findTraces(page, marked)]).toEqual([path, []])
  }
  await go(`/p/main/tenants?open=${scene.project.tenantId}`)
  await page.getByText('api.token').waitFor()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('dialog').waitFor()
  expect(await findTraces(page, marked)).toEqual([])
  await page.keyboard.press('Escape')
  await go('/p/main/members')
  expect(await findText(page, marked)).toEqual([])
})
