// Tests the lists of access: who has access to an object, what a person has access to, and why.
import { seedMember } from '@manager/harness/seed.ts'
import { expect, test } from 'vitest'
import { violationsOf } from '../../../manager/test/kit/cli-login-page.ts'
import { findButton } from '../kit/find-button.ts'
import { useConsole } from '../kit/scene.ts'
import { createWalk } from '../kit/walk.ts'

const scene = useConsole()

test('the page of members shows who has access, and the reasons of a person in words', async () => {
  const { service, project } = scene
  const anna = await scene.member('anna', 'maintainer')
  const bob = await scene.person('bob')
  const { error } = await service.query(
    anna,
    'mutation($t: ID!, $u: ID!) { addUserToTenant(tenantID: $t, userID: $u, roleName: "member") { id } }',
    { t: project.tenantId, u: bob.id },
  )
  expect(error).toBeNull()
  const visit = await scene.visit(anna)
  const { page, complaints } = visit
  const { go, settle } = createWalk(visit)
  await go('/p/main/members')
  await findButton(page, 'Who has access').click()
  await settle()
  const row = page.getByRole('row', { name: /^bob/ })
  expect(await row.innerText()).toContain('Role member in the tenant, granted by anna on ')
  await page.getByText('Administrators also have access.').waitFor()
  await page.getByRole('searchbox').fill('bob')
  await page.getByRole('row', { name: /^anna/ }).waitFor({ state: 'detached' })
  await row.click()
  await settle()
  const panel = page.getByRole('complementary', { name: 'bob' })
  expect(await panel.getByRole('tab', { selected: true }).innerText()).toBe('Access')
  const items = panel.getByRole('listitem')
  expect(await items.first().innerText()).toContain('Role member in the tenant, granted by anna on ')
  await panel.getByText('Application of main in main-tenant').waitFor()
  await panel
    .getByText(/^\d+ permissions$/)
    .first()
    .click()
  await panel.getByText('TENANT_READ', { exact: true }).first().waitFor()
  expect(await violationsOf(page)).toEqual([])
  expect(complaints).toEqual([])
})

test('tenants, applications and the account have lists of access', async () => {
  const { service, project } = scene
  const eve = await scene.person('eve')
  const { id: projectId, tenantId, applicationId } = project
  await seedMember(service.sql, eve, 'admin', { projectId, tenantId })
  const visit = await scene.visit(scene.admin)
  const { page, complaints } = visit
  const { go } = createWalk(visit)
  for (const [path, role] of [
    [`tenants?open=${tenantId}&tab=access`, 'admin'],
    [`applications?open=${applicationId}&tab=access`, 'normal'],
  ] as const) {
    await go(`/p/main/${path}`)
    const item = page.getByRole('complementary').getByRole('listitem').filter({ hasText: 'eve' }).first()
    expect([path, await item.innerText()]).toEqual([path, expect.stringContaining(role)])
    expect(await page.getByText('Administrators also have access.').count()).toBe(0)
    expect(await violationsOf(page)).toEqual([])
  }
  const own = await scene.visit(eve)
  const ownWalk = createWalk(own)
  await ownWalk.go('/me?tab=access')
  const rows = own.page.getByRole('region', { name: 'Access', exact: true }).getByRole('listitem')
  expect((await rows.allInnerTexts()).some((text) => text.includes('Role admin in the tenant'))).toBe(true)
  expect([...complaints, ...own.complaints]).toEqual([])
})
