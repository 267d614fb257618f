// Tests every page of the console: policy header, width, accessibility, and that no request goes to other hosts.
import { seedMachineUser, seedProject } from '@manager/harness/seed.ts'
import { expect, test } from 'vitest'
import { violationsOf } from '../../manager/test/kit/cli-login-page.ts'
import { seedEndpoint } from '../../manager/test/kit/endpoints.ts'
import { seedTrigger } from '../../manager/test/kit/triggers.ts'
import { useConsole, waitForPage } from './kit/scene.ts'
import { seedPilets } from './kit/seed-pilets.ts'
import { createWalk } from './kit/walk.ts'

const scene = useConsole()

const projectPages = [
  'overview',
  'tenants',
  'applications',
  'access',
  'settings',
  'language-packs',
  'members',
  'machine-users',
  'deployments',
  'pilets',
  'notifications',
  'esb',
  'triggers',
  'calls',
  'audit',
]
const paths = [
  '/',
  ...['account', 'access', 'tokens', 'inbox', 'preferences'].map((tab) => `/me?tab=${tab}`),
  '/invitations',
  '/system/users',
  '/system/users?view=roles',
  '/system/tokens',
  '/system/tokens?view=machine&project=main',
  '/system/provisioning',
  '/system/provisioning?view=groups',
  '/system/provisioning?view=rules',
  '/system/access-review',
  '/system/access-review?scope=system',
  '/system/access-review?scope=system&print=1',
  '/system/evidence',
  '/system/evidence?query=access-grants',
  '/system/evidence?query=audit-access&print=1',
  '/system/evidence?view=chains',
  ...projectPages.map((path) => `/p/main/${path}`),
  '/p/main/pilets?view=feed',
  '/p/main/members?tab=invitations',
  '/p/main/members?view=access',
]
// The nightly tests check every address, with its overlays, in both themes at both widths.
test('at 360 px, every page fits, is accessible, follows its policy header and asks no other host', async () => {
  const visit = await scene.visit(scene.admin, { width: 360, theme: 'dark' })
  const { page, complaints, foreignRequests } = visit
  const walk = createWalk(visit)
  const problems: Record<string, unknown[]> = {}
  for (const path of paths) {
    await walk.go(path)
    const found: unknown[] = await violationsOf(page)
    const width = await page.evaluate(() => document.documentElement.scrollWidth)
    if (width !== 360) found.push(`is ${width} px wide`)
    if (found.length > 0) problems[path] = found
  }
  expect(problems).toEqual({})
  expect(complaints).toEqual([])
  expect(foreignRequests).toEqual([])
})

test('an address that does not exist says so, inside the frame', async () => {
  const { page, open } = await scene.visit(scene.admin)
  await open('/p/main/nothing')
  await page.getByRole('heading', { name: 'This page does not exist' }).waitFor()
  expect(await page.getByRole('navigation').count()).toBe(1)
})

test('popups of the frame have their styles on a page without forms', async () => {
  const { page, open } = await scene.visit(scene.admin)
  await open('/p/main/overview')
  await waitForPage(page)
  await page.getByRole('button', { name: 'Notifications' }).click()
  const popup = page.locator('.popover')
  const readColor = () => popup.evaluate((element) => getComputedStyle(element).backgroundColor)
  await expect.poll(readColor).toBe('rgb(255, 255, 255)')
})

test('an address that names an object of another project says that it does not exist', async () => {
  const { sql } = scene.service
  const other = await seedProject(sql, 'elsewhere')
  const { id: machineUserId } = await seedMachineUser(sql, other)
  const { piletId } = await seedPilets(sql, other)
  const endpointId = await seedEndpoint(sql, other)
  const triggerId = await seedTrigger(sql, other)
  const { page, open } = await scene.visit(scene.admin)
  for (const path of [
    `/p/main/tenants?open=${other.tenantId}`,
    `/p/main/applications?open=${other.applicationId}`,
    `/p/main/machine-users?open=${machineUserId}`,
    `/p/main/deployments?open=${other.applicationId}.dev`,
    `/p/main/pilets?open=${piletId}`,
    `/p/main/esb?open=${endpointId}`,
    `/p/main/esb/${endpointId}`,
    `/p/main/triggers?open=${triggerId}`,
    `/p/main/triggers?open=${triggerId}&view=runs`,
    `/p/main/settings?tenant=${other.tenantId}`,
    `/p/main/language-packs?open=${other.id}`,
    `/p/main/notifications?open=${other.applicationId}`,
  ]) {
    await open(path)
    await page.getByText('Not found, or no access').waitFor()
    expect([
      path,
      await page
        .getByRole('button', { name: /^(?:Edit|Delete|Rotate|Disable|Run now|Review and save)$/ })
        .count(),
    ]).toEqual([path, 0])
  }
  await open(`/p/elsewhere/tenants?open=${other.tenantId}`)
  await page.getByRole('button', { name: 'Delete' }).waitFor()
})

test('parameters of an address that are no short texts are ignored', async () => {
  const { page, open, complaints } = await scene.visit(scene.admin)
  const long = 'x'.repeat(201)
  await open(`/p/main/tenants?q=true&open={"a":1}&sort=["-name"]&mode=${long}&page=2&page=3`)
  await page.getByRole('row', { name: /main-tenant/ }).waitFor()
  expect(await page.getByRole('searchbox').inputValue()).toBe('')
  expect(await page.getByRole('complementary').count()).toBe(0)
  expect(complaints).toEqual([])
})
