// A maintainer invites a person by link, and the person accepts. The link is shown once, and its token leaves the
// address.
import type { Person } from '@manager/harness/callers.ts'
import { seedMember } from '@manager/harness/seed.ts'
import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { violationsOf } from '../../../manager/test/kit/cli-login-page.ts'
import { seedInvitation } from '../../../manager/test/kit/invitations.ts'
import { findButton } from '../kit/find-button.ts'
import { findText } from '../kit/find-text.ts'
import { type Visit, useConsole, waitForPage } from '../kit/scene.ts'

const scene = useConsole()

/** Presses a control with the keyboard only. */
async function press(control: Locator, key = 'Enter'): Promise<void> {
  await control.focus()
  await control.page().keyboard.press(key)
}

/** Fills in the open dialog and returns the token of the link. */
async function inviteInDialog(page: Page, title: string, email: string, role: string): Promise<string> {
  const form = page.getByRole('dialog', { name: title })
  await form.waitFor()
  await page.keyboard.type(email)
  await press(form.getByRole('radio', { name: new RegExp(`^${role}`) }), 'Space')
  expect(await violationsOf(page)).toEqual([])
  await press(findButton(form, 'Invite'))
  const dialog = page.getByRole('dialog', { name: `Invitation for ${email}` })
  const link = (await dialog.locator('.secret-value').textContent()) ?? ''
  expect(link).toMatch(/\/console\/invitations#inv_[\w-]{43}$/)
  await press(findButton(dialog, 'Copy'))
  await findButton(dialog, 'Copied').waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(link)
  await page.evaluate(() => navigator.clipboard.writeText(''))
  await press(dialog.getByRole('checkbox'), 'Space')
  await press(findButton(dialog, 'Done'))
  await dialog.waitFor({ state: 'detached' })
  const token = link.slice(link.indexOf('#') + 1)
  expect(await findText(page, token)).toEqual([])
  return token
}

async function openLink(person: Person, token: string): Promise<Visit> {
  const visit = await scene.visit(person)
  await visit.open(`/invitations#${token}`)
  await waitForPage(visit.page)
  return visit
}

test('by keyboard: a maintainer invites a person to the project, who accepts and opens it', async () => {
  const maintainer = await scene.member('ada', 'maintainer')
  const guest = await scene.person('grace')
  const { page, open, complaints } = await scene.visit(maintainer)
  await open('/p/main/members')
  await waitForPage(page)
  await press(findButton(page, 'Invitations'))
  const panel = page.getByRole('complementary', { name: 'Invitations to Project main' })
  await panel.getByText('No open invitations.').waitFor()
  await press(findButton(panel, 'Invite'))
  const token = await inviteInDialog(
    page,
    'Invite a person to Project main',
    guest.email as string,
    'developer',
  )
  await panel.getByText(guest.email as string).waitFor()
  await panel.getByText('Invited by ada').waitFor()

  const visit = await openLink(guest, token)
  await visit.page.getByRole('heading', { name: 'You are invited to Project main' }).waitFor()
  expect(await visit.page.getByRole('main').innerText()).toContain('ada (ada@example.com)')
  await expect.poll(() => visit.page.url()).toBe(`${scene.origin}/console/invitations`)
  expect(await violationsOf(visit.page)).toEqual([])
  await press(findButton(visit.page, 'Accept invitation'))
  await visit.page.getByRole('heading', { name: 'You are now a member' }).waitFor()
  // The browser keeps the address that it loaded in its list of requests. The token in it does not work anymore.
  await expect.poll(() => findText(visit.page, token)).toEqual(['address: request'])
  await press(visit.page.getByRole('link', { name: 'Open Project main' }))
  await visit.page.waitForURL(/\/p\/main\/overview/)
  await waitForPage(visit.page)
  const { data } = await scene.service.query(guest, '{ project(slug: "main") { myRole } }')
  expect(data.project.myRole).toBe('developer')

  await page.reload()
  await panel.getByText('No open invitations.').waitFor()
  expect([complaints, visit.complaints]).toEqual([[], []])
})

test('an administrator of a tenant invites in its panel, and revokes the invitation', async () => {
  const { id: projectId, tenantId, slug } = scene.project
  const tenantAdmin = await scene.person('tam')
  await seedMember(scene.service.sql, tenantAdmin, 'admin', { projectId, tenantId })
  const guest = await scene.person('gwen')
  const { page, open } = await scene.visit(tenantAdmin)
  await open(`/p/${slug}/tenants?open=${tenantId}&tab=invitations`)
  await waitForPage(page)
  const panel = page.getByRole('complementary')
  await press(findButton(panel, 'Invite'))
  const form = page.getByRole('dialog', { name: 'Invite a person to main-tenant' })
  expect(await form.getByRole('radio', { name: /^owner/ }).isDisabled()).toBe(true)
  const token = await inviteInDialog(page, 'Invite a person to main-tenant', guest.email as string, 'member')
  await press(findButton(panel, `Revoke the invitation for ${guest.email}`))
  await press(findButton(page.getByRole('dialog'), 'Revoke'))
  await panel.getByText('No open invitations.').waitFor()

  const visit = await openLink(guest, token)
  await visit.page.getByRole('heading', { name: 'You cannot use this invitation' }).waitFor()
  await visit.page.getByText(`You are signed in as ${guest.email}.`).waitFor()
  expect(await violationsOf(visit.page)).toEqual([])
})

test('another link in the same tab replaces the first one, and an address without a link says what to do', async () => {
  const guest = await scene.person('gil')
  const { sql } = scene.service
  const ofProject = await seedInvitation(sql, scene.project, { inviter: scene.admin })
  const ofTenant = await seedInvitation(sql, scene.project, {
    kind: 'tenant',
    inviter: scene.admin,
    role: 'member',
  })
  const { page, open } = await scene.visit(guest)
  await open('/invitations')
  await page.getByRole('heading', { name: 'No invitation in the address' }).waitFor()
  await open(`/invitations#${ofProject.token}`)
  await page.getByRole('heading', { name: 'You are invited to Project main' }).waitFor()
  await open(`/invitations#${ofTenant.token}`)
  await page.getByRole('heading', { name: 'You are invited to main-tenant' }).waitFor()
  expect(page.url()).not.toContain('inv_')
  await findButton(page, 'Accept invitation').click()
  await page.getByText('Your role in main-tenant is member.').waitFor()
})

test('if the inviter may no longer grant the role, the page says so and keeps the invitation', async () => {
  const inviter = await scene.member('former', 'maintainer')
  const guest = await scene.person('gus')
  const { sql } = scene.service
  const { token } = await seedInvitation(sql, scene.project, { inviter })
  const { page } = await openLink(guest, token)
  const accept = findButton(page, 'Accept invitation')
  await accept.waitFor()
  await sql.query("update user2projects set role = 'developer' where user_id = $1", [inviter.id])
  await accept.click()
  await page.getByText('the person who invited you may no longer grant this role').waitFor()
  await sql.query("update user2projects set role = 'maintainer' where user_id = $1", [inviter.id])
  await accept.click()
  await page.getByRole('heading', { name: 'You are now a member' }).waitFor()
  const { data } = await scene.service.query(guest, '{ project(slug: "main") { myRole } }')
  expect(data.project.myRole).toBe('readonly')
})
