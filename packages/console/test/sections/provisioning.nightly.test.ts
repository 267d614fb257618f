// Provisioning in the console: an administrator connects an identity provider, gives its groups roles, and deactivates
// people. The groups and their people arrive through SCIM requests.
import type { Person } from '@manager/harness/callers.ts'
import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { violationsOf } from '../../../manager/test/kit/cli-login-page.ts'
import { createScimClient, createScimToken, newUser } from '../../../manager/test/kit/scim.ts'
import { findButton } from '../kit/find-button.ts'
import { findText } from '../kit/find-text.ts'
import { useConsole, waitForPage } from '../kit/scene.ts'

const scene = useConsole()

const connect = (token: string) =>
  createScimClient(
    () => scene.service,
    () => token,
  )

/** Creates people and a group with them, as an identity provider does. */
async function provision(groupName: string, names: readonly string[]): Promise<readonly Person[]> {
  const { token } = await createScimToken(scene.service, scene.admin, { name: groupName })
  const client = connect(token)
  const people: Person[] = []
  for (const name of names) {
    const body = newUser({ displayName: name, userName: `${name}@example.com` })
    expect((await client.post(body)).status).toBe(201)
    people.push({ id: body.externalId, name, email: `${name}@example.com` })
  }
  const members = people.map(({ id }) => ({ value: id }))
  const { status } = await client.send('POST', '/Groups', { body: { displayName: groupName, members } })
  expect(status).toBe(201)
  return people
}

const listProjects = async (person: Person): Promise<string[]> => {
  const { data } = await scene.service.query(person, '{ projects { slug } }')
  return data.projects.map(({ slug }: { slug: string }) => slug)
}

async function pick(page: Page, opener: Locator, option: RegExp): Promise<void> {
  await opener.click()
  await page.getByRole('option', { name: option }).click()
}

async function openGroup(page: Page, name: string): Promise<Locator> {
  await page.getByRole('row', { name: new RegExp(name) }).click()
  const panel = page.getByRole('complementary', { name })
  await findButton(panel, 'Add rule').waitFor()
  return panel
}

/** Adds a rule in the panel of a group. Without a tenant, the rule gives a role in the project. */
async function addRule(page: Page, panel: Locator, role: string, tenant?: RegExp): Promise<void> {
  await findButton(panel, 'Add rule').click()
  const form = page.getByRole('dialog', { name: /^Give .* a role$/ })
  if (tenant !== undefined) await pick(page, form.getByRole('button', { name: /Role in$/ }), /^Tenant$/)
  await pick(page, form.getByRole('button', { name: /^Project required/ }), /Project main/)
  if (tenant !== undefined) await pick(page, form.getByRole('button', { name: /^Tenant required/ }), tenant)
  await form.getByText(role, { exact: true }).click()
  expect(await violationsOf(page)).toEqual([])
  await findButton(form, 'Add rule').click()
  await form.waitFor({ state: 'detached' })
}

test('an administrator connects an identity provider: the token is shown once, works, and is revoked', async () => {
  const { page, open, complaints } = await scene.visit(scene.admin)
  await open('/system/provisioning')
  await page.getByRole('heading', { name: 'No identity provider is connected' }).waitFor()
  await page.getByText(`${scene.origin}/scim/v2`).waitFor()
  await findButton(page, 'Copy the SCIM address').click()
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(`${scene.origin}/scim/v2`)

  await findButton(page, 'New SCIM token').first().click()
  const form = page.getByRole('dialog', { name: 'New SCIM token' })
  await form.waitFor()
  await page.keyboard.type('entra')
  expect(await violationsOf(page)).toEqual([])
  await findButton(form, 'Create').click()
  const dialog = page.getByRole('dialog', { name: 'SCIM token entra' })
  const secret = (await dialog.locator('.secret-value').textContent()) ?? ''
  expect(secret).toMatch(/^scim_[\w-]{49}$/)
  expect(await dialog.innerText()).toContain(`${scene.origin}/scim/v2`)
  await page.keyboard.press('Escape')
  expect(await dialog.isVisible()).toBe(true)
  await dialog.getByRole('checkbox').press('Space')
  await findButton(dialog, 'Done').click()
  await dialog.waitFor({ state: 'detached' })
  expect(await findText(page, secret)).toEqual([])

  const client = connect(secret)
  expect((await client.get('/Users?count=1')).status).toBe(200)
  const panel = page.getByRole('complementary', { name: 'entra' })
  await panel.getByRole('link', { name: 'admin' }).waitFor()
  expect(await page.getByRole('row', { name: /entra/ }).innerText()).toContain(secret.slice(0, 13))
  await findButton(panel, 'Revoke').click()
  await findButton(page.getByRole('dialog', { name: 'Revoke token entra?' }), 'Revoke').click()
  await panel.getByText('Revoked').first().waitFor()
  expect(await findButton(panel, 'Revoke').count()).toBe(0)
  expect((await client.get('/Users?count=1')).status).toBe(401)
  expect(complaints).toEqual([])
})

test('a rule gives the people of a group a role; changing and deleting it takes effect', async () => {
  const [iris, jonas] = (await provision('Support', ['iris', 'jonas'])) as [Person, Person]
  const { page, open, complaints } = await scene.visit(scene.admin)
  await open('/system/provisioning?view=groups')
  await waitForPage(page)
  const panel = await openGroup(page, 'Support')
  await panel.getByText('2 people').waitFor()
  await panel.getByText('The group has no rules. Add a rule to give its people a role.').waitFor()
  expect(await listProjects(iris)).toEqual([])
  await addRule(page, panel, 'tester')
  await panel.getByRole('link', { name: 'Project main' }).waitFor()
  await expect.poll(() => page.getByRole('row', { name: /Support/ }).innerText()).toMatch(/2\s+1\s/)
  expect(await listProjects(iris)).toEqual(['main'])

  await panel.getByRole('tab', { name: /^People/ }).click()
  await panel.getByRole('link', { name: 'jonas' }).waitFor()
  expect(await violationsOf(page)).toEqual([])
  await panel.getByRole('tab', { name: 'Summary' }).click()
  await findButton(panel, 'Change the role in Project main').click()
  const form = page.getByRole('dialog', { name: 'Change the role of Support in Project main' })
  await form.getByText('developer', { exact: true }).click()
  await findButton(form, 'Change role').click()
  await form.waitFor({ state: 'detached' })
  await panel.getByText('developer', { exact: true }).waitFor()
  const role = await scene.service.query(jonas, '{ project(slug: "main") { myRole } }')
  expect(role.data.project.myRole).toBe('developer')

  await findButton(panel, 'Delete the rule for Project main').click()
  const question = page.getByRole('dialog', { name: 'Delete the rule of Support?' })
  await question.getByText('At most 2 people lose the role developer in Project main.').waitFor()
  await findButton(question, 'Delete').click()
  await panel.getByText('The group has no rules. Add a rule to give its people a role.').waitFor()
  expect(await listProjects(iris)).toEqual([])
  expect(complaints).toEqual([])
})

test('the list of rules covers all groups, and a rule has its own address', async () => {
  await provision('Warehouse', ['karl'])
  const { page, open } = await scene.visit(scene.admin)
  await open('/system/provisioning?view=groups')
  await waitForPage(page)
  await addRule(page, await openGroup(page, 'Warehouse'), 'member', /main-tenant/)
  await page.getByRole('button', { name: 'Rules', exact: true }).click()
  const row = page.getByRole('row', { name: /Warehouse/ })
  await row.waitFor()
  expect(await row.innerText()).toMatch(/main-tenant\s+Tenant · Project main\s+member/)
  await pick(page, page.getByRole('button', { name: /^Project: any/ }), /Project main/)
  await page.waitForURL(/project=main/)
  await row.click()
  await page.waitForURL(/open=/)
  await page.reload()
  const panel = page.getByRole('complementary', { name: 'Warehouse' })
  await panel.getByText('member in main-tenant').waitFor()
  expect(await violationsOf(page)).toEqual([])
  await findButton(panel, 'Delete').click()
  const question = page.getByRole('dialog')
  await question.getByText('At most 1 person loses the role member in main-tenant.').waitFor()
  await findButton(question, 'Delete').click()
  await panel.waitFor({ state: 'detached' })
  await page.getByRole('heading', { name: 'No rule matches' }).waitFor()
})

test('members with a role from a group cannot be removed, but can get a direct role', async () => {
  const [lena] = (await provision('Planning', ['lena'])) as [Person]
  const { page, open, complaints } = await scene.visit(scene.admin)
  await open('/system/provisioning?view=groups')
  await waitForPage(page)
  await addRule(page, await openGroup(page, 'Planning'), 'tester')
  await open('/p/main/members')
  await waitForPage(page)
  const row = page.getByRole('row', { name: /lena/ })
  expect(await row.innerText()).toMatch(/tester\s+Group/)
  await row.click()
  const panel = page.getByRole('complementary', { name: 'lena' })
  const remove = findButton(panel, 'Remove from Project main')
  expect(await remove.getAttribute('aria-disabled')).toBe('true')
  await remove.hover()
  await page.getByRole('tooltip', { name: /An administrator can delete the rule of the group/ }).waitFor()
  await panel.getByRole('tab', { name: 'Access' }).click()
  await panel.getByText('Role tester in the project, through the group Planning').first().waitFor()

  await panel.getByRole('tab', { name: 'Roles' }).click()
  await findButton(panel, 'Change the role in Project main').click()
  const form = page.getByRole('dialog')
  await form.getByText('The role that you save is given directly and takes precedence.').waitFor()
  expect(await violationsOf(page)).toEqual([])
  await form.getByText('developer', { exact: true }).click()
  await findButton(form, 'Change role').click()
  await form.waitFor({ state: 'detached' })
  await expect.poll(() => remove.getAttribute('aria-disabled')).toBe(null)
  expect(await row.innerText()).not.toContain('Group')
  const { data } = await scene.service.query(lena, '{ project(slug: "main") { myRole } }')
  expect(data.project.myRole).toBe('developer')
  expect(complaints).toEqual([])
})

test('an administrator deactivates a person and reactivates them', async () => {
  const mona = await scene.member('mona', 'tester')
  const { page, open, complaints } = await scene.visit(scene.admin)
  await open(`/system/users?open=${mona.id}`)
  const panel = page.getByRole('complementary', { name: 'mona' })
  await findButton(panel, 'Deactivate').click()
  const question = page.getByRole('dialog', { name: 'Deactivate mona?' })
  await question.getByText('The Manager rejects all requests of this person immediately.').waitFor()
  expect(await violationsOf(page)).toEqual([])
  await findButton(question, 'Deactivate').click()
  await panel.getByText(/^By an administrator on /).waitFor()
  expect(await page.getByRole('row', { name: /mona/ }).innerText()).toContain('Deactivated')
  expect((await scene.service.query(mona, '{ me { id } }')).error).not.toBeNull()

  await findButton(panel, 'Reactivate').click()
  await findButton(page.getByRole('dialog', { name: 'Reactivate mona?' }), 'Reactivate').click()
  await findButton(panel, 'Deactivate').waitFor()
  expect(await listProjects(mona)).toEqual(['main'])
  expect(complaints).toEqual([])
})

test('the identity provider deactivates a person independently of administrators', async () => {
  const { token } = await createScimToken(scene.service, scene.admin)
  const client = connect(token)
  const body = newUser({ displayName: 'nils', active: false })
  expect((await client.post(body)).status).toBe(201)
  const { page, open } = await scene.visit(scene.admin)
  await open(`/system/users?open=${body.externalId}`)
  const panel = page.getByRole('complementary', { name: 'nils' })
  await panel.getByText('Provisioned', { exact: true }).waitFor()
  await panel.getByText(/^By the identity provider on /).waitFor()
  await findButton(panel, 'Deactivate').click()
  await findButton(page.getByRole('dialog'), 'Deactivate').click()
  await findButton(panel, 'Reactivate').click()
  const form = page.getByRole('dialog')
  await form.getByText('The person stays deactivated until it reactivates them.').waitFor()
  await findButton(form, 'Reactivate').click()
  await findButton(panel, 'Deactivate').waitFor()
  expect(await panel.getByText(/^By an administrator on /).count()).toBe(0)
  await panel.getByText(/^By the identity provider on /).waitFor()
})

test('administrators cannot deactivate themselves', async () => {
  const { page, open } = await scene.visit(scene.admin)
  await open('/system/users')
  await waitForPage(page)
  await page.getByRole('row', { name: /admin/ }).click()
  const button = findButton(page.getByRole('complementary'), 'Deactivate')
  expect(await button.getAttribute('aria-disabled')).toBe('true')
  await button.hover()
  await page
    .getByRole('tooltip', { name: 'You cannot deactivate yourself. Ask another administrator.' })
    .waitFor()
})
