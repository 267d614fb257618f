// The ESB section: endpoints are created, edited, disabled and deleted, templates are written with a preview, and a test
// call reaches a real partner.
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { seedMachineUser } from '@manager/harness/seed.ts'
import { violationsOf } from '../../../manager/test/kit/cli-login-page.ts'
import { endpointCalls, seedEndpointAccess } from '../../../manager/test/kit/endpoints.ts'
import { type Upstream, startUpstream } from '../../../manager/test/kit/upstream.ts'
import { findText } from '../kit/find-text.ts'
import { expectFocus } from '../kit/focus.ts'
import { type Visit, useConsole, waitForPage } from '../kit/scene.ts'

const scene = useConsole()
const path = '/p/main/esb'
const endpoints = endpointCalls(() => scene.service)

let maria: Person
let partner: Upstream
let machineUserId: string
beforeAll(async () => {
  maria = await scene.member('Maria Maintainer', 'maintainer')
  partner = await startUpstream()
  machineUserId = (await seedMachineUser(scene.service.sql, scene.project)).id
})
afterAll(() => partner.close())
beforeEach(() => partner.reset())

const button = (page: Page | Locator, name: string | RegExp): Locator =>
  page.getByRole('button', typeof name === 'string' ? { name, exact: true } : { name })
const panelOf = (page: Page): Locator => page.getByRole('complementary')
const dialogOf = (page: Page): Locator => page.getByRole('dialog')

/** Creates an endpoint of the partner that the machine user may call. */
async function createEndpoint(name: string, input: Record<string, unknown> = {}): Promise<string> {
  const { data, error } = await endpoints.create(scene.admin, scene.project.applicationId, {
    name,
    consumeURL: `/${name}`,
    url: `${partner.url}/orders`,
    ...input,
  })
  expect(error).toBeNull()
  const { id } = data.row as { id: string }
  await seedEndpointAccess(scene.service.sql, { projectId: scene.project.id, endpointId: id, machineUserId })
  return id
}

async function open(address: string, person = maria): Promise<Visit> {
  const visit = await scene.visit(person)
  await visit.open(address)
  await waitForPage(visit.page)
  return visit
}

/** Replaces the text of an editor, as a person who selects everything and types. */
async function write(editor: Locator, text: string): Promise<void> {
  await editor.click()
  await editor.page().keyboard.press('Control+a')
  await editor.page().keyboard.insertText(text)
}

describe('an endpoint', () => {
  test('is created, edited, disabled, enabled and deleted', async () => {
    const { page } = await open(path)
    await button(page, 'New endpoint').first().click()
    const form = dialogOf(page)
    // The project has one application. Choosing it again closes the list.
    await button(form, 'Application required Application of main').click()
    await page.getByRole('option', { name: /Application of main/ }).click()
    await form.getByRole('textbox', { name: /^Name/ }).fill('Bookings')
    await form.getByRole('textbox', { name: /^Path/ }).fill('bookings')
    await form.getByRole('textbox', { name: /^Target URL/ }).fill('https://carrier.example/v2/bookings')
    await button(form, /^none Sign-in at the target/).click()
    await page.getByRole('option', { name: 'Basic' }).click()
    await form.getByRole('textbox', { name: 'User name' }).fill('freight')
    await form.getByLabel('Password').fill('never-shown-again')
    await button(form, 'Create').click()
    // The API explains what is wrong with the path, at its field.
    await form.getByText('consumeURL must be a path that starts with a single /').waitFor()
    await form.getByRole('textbox', { name: /^Path/ }).fill('/bookings')
    await button(form, 'Create').click()
    const panel = panelOf(page)
    await panel.getByRole('heading', { name: 'Bookings' }).waitFor()
    await panel.getByText(`/esb/${scene.project.applicationId}/bookings`).waitFor()
    await panel.getByText('freight').waitFor()
    expect(await findText(page, 'never-shown-again')).toEqual([])

    await button(panel, 'Edit').click()
    await form.getByRole('textbox', { name: /^Name/ }).fill('Carrier bookings')
    await button(form, 'Save').click()
    await panel.getByRole('heading', { name: 'Carrier bookings' }).waitFor()
    const id = new URL(page.url()).searchParams.get('open') ?? ''
    const stored = await endpoints.keptOf(id)
    // An empty field has kept the password.
    expect(stored?.auth_password).toBeInstanceOf(Buffer)

    await button(panel, 'Disable').click()
    await button(dialogOf(page), 'Disable').click()
    await panel.getByText('The endpoint is disabled').waitFor()
    await expectFocus(button(panel, 'Enable'))
    await button(panel, 'Enable').click()
    await button(panel, 'Disable').waitFor()

    await button(panel, 'Delete').click()
    await dialogOf(page).getByRole('textbox').fill('/bookings')
    await button(dialogOf(page), 'Delete').click()
    await panel.waitFor({ state: 'detached' })
    await page.getByText('Deleted Carrier bookings').waitFor()
    expect(await endpoints.keptOf(id)).toBeUndefined()
  })

  test('is found by its path, its application and its status, which are part of the address', async () => {
    await createEndpoint('find-me', { enabled: false })
    await createEndpoint('other')
    const { page } = await open(`${path}?q=find-me`)
    const rows = page.getByRole('row').filter({ has: page.getByRole('rowheader') })
    await expect.poll(() => rows.count()).toBe(1)
    await button(page, /^Status/).click()
    await page.getByRole('option', { name: 'enabled', exact: true }).click()
    await page.getByText('No endpoint matches').waitFor()
    expect(new URL(page.url()).search).toBe('?q=find-me&status=enabled')
    await button(page, 'Clear filters').click()
    await page.getByRole('row', { name: /other/ }).waitFor()
    await button(page, /^Application/).click()
    await page.getByRole('option', { name: /Application of main/ }).click()
    await page.getByRole('row', { name: /find-me/ }).waitFor()
    expect(new URL(page.url()).searchParams.get('application')).toBe(scene.project.applicationId)
  })

  test('with logged calls cannot be deleted, and is disabled instead', async () => {
    const id = await createEndpoint('called')
    const { error } = await scene.service.query(
      scene.admin,
      'mutation($id: ID!, $machine: ID!) { testEndpoint(endpointId: $id, input: { machineUserId: $machine, method: "GET" }) { requestId } }',
      { id, machine: machineUserId },
    )
    expect(error).toBeNull()
    const { page } = await open(`${path}?open=${id}`)
    await button(panelOf(page), 'Delete').click()
    await dialogOf(page).getByRole('textbox').fill('/called')
    await button(dialogOf(page), 'Delete').click()
    await page.getByText('the endpoint has served 1 logged ESB request and cannot be deleted').waitFor()
    await button(dialogOf(page), 'Disable instead').click()
    await button(dialogOf(page), 'Disable').click()
    await panelOf(page).getByText('The endpoint is disabled').waitFor()
  })
})

describe('the template editor', () => {
  test('shows a warning at its line, and a test call with the fixed template is found in the call log', async () => {
    const id = await createEndpoint('orders', {
      inputMessageType: 'JSON',
      outputMessageType: 'JSON',
      logLevel: 'FULL',
    })
    const { page, complaints } = await open(`${path}?open=${id}`)
    await page.getByRole('link', { name: 'Add template' }).click()
    const editor = page.getByRole('textbox', { name: 'Template' })
    await write(editor, '{\n"reference": {{toJson .Data.id}},\n"vat": {{toJson .Data.vat}}\n}')

    const problems = page.getByRole('region', { name: 'Problems' })
    await problems.getByText('1 warning').waitFor()
    await problems.getByText('.Data.vat is missing').waitFor()
    expect(await page.locator('.cm-problem-warning').textContent()).toBe('.Data.vat')
    expect(await page.locator('.cm-line:has(.cm-problem-warning)').textContent()).toContain('"vat"')
    await page.keyboard.press('Control+Home')
    await button(problems, 'Line 3:17').click()
    await expectFocus(editor)

    // The jump has placed the cursor before the wrong name, so typing there fixes it.
    await page.keyboard.press('Shift+End')
    await page.keyboard.insertText('.Data.vatId}}')
    await button(page, 'Sample body').click()
    await write(page.getByRole('textbox', { name: 'Sample body' }), '{"id": "o-1", "vatId": "DE1"}')
    await button(page, 'Preview').click()
    await problems.getByText('No problems').waitFor()
    const preview = page.getByRole('textbox', { name: 'Preview' })
    await expect.poll(() => preview.textContent()).toContain('"reference": "o-1"')
    expect(await violationsOf(page)).toEqual([])

    await page.getByText('Unsaved').waitFor()
    await button(page, 'Save template').click()
    await page.getByText('Saved the template of orders').waitFor()
    await page.getByText('Unsaved').waitFor({ state: 'detached' })

    partner.answer((_request, response) => {
      response.writeHead(201, { 'content-type': 'application/json' })
      response.end('{"booking":"b-1","token":"secret"}')
    })
    await button(page, 'Test call').click()
    const dialog = dialogOf(page)
    await button(dialog, 'Continue').click()
    const host = new URL(partner.url).host
    await dialog.getByRole('heading', { name: `Call ${host}?` }).waitFor()
    await dialog.getByText(`POST ${partner.url}/orders`).waitFor()
    expect(partner.received).toEqual([])
    await button(dialog, `Call ${host}`).click()
    await dialog.getByText('201', { exact: true }).waitFor()
    await dialog.getByText(/^\d+ ms$/).waitFor()
    await dialog.getByText('{"booking":"b-1","token":"[REDACTED]"}').waitFor()
    expect(partner.received.map(({ method, body }) => [method, String(body)])).toEqual([
      ['POST', '{\n"reference": "o-1",\n"vat": "DE1"\n}'],
    ])
    const requestId = (await dialog.getByText(/^[0-9a-f-]{36}$/).textContent()) ?? ''
    await dialog.getByRole('link', { name: 'Show in the call log' }).click()
    await page.getByRole('heading', { level: 1, name: 'Calls' }).waitFor()
    await expect.poll(() => page.getByRole('searchbox').inputValue()).toBe(requestId)
    const rows = page.getByRole('grid', { name: 'Calls' }).locator('.table-row')
    await expect.poll(() => rows.count()).toBe(1)
    expect(await rows.first().innerText()).toMatch(/201[\s\S]*POST orders/)
    await rows.first().click()
    const call = page.getByRole('complementary', { name: 'Call' })
    await call.getByRole('heading', { name: 'POST orders' }).waitFor()
    await call.getByText('test call', { exact: true }).waitFor()
    await call.getByText(requestId).waitFor()
    // The log has the body of the caller, and the redacted response.
    await call.getByText('{"id": "o-1", "vatId": "DE1"}').waitFor()
    await call.getByText('{"booking":"b-1","token":"[REDACTED]"}').waitFor()
    expect(partner.received).toHaveLength(1)
    expect(complaints).toEqual([])
  })

  test('without a machine user lets the person allow one, and a changed endpoint is confirmed again', async () => {
    const id = await createEndpoint('moved')
    await scene.service.sql.query('delete from machine_user2endpoints where endpoint_id = $1', [id])
    const { page } = await open(`${path}?open=${id}`)
    await button(panelOf(page), 'Test call').click()
    const dialog = dialogOf(page)
    await dialog.getByText('No enabled machine user may call this endpoint.').waitFor()
    await button(dialog, /^Allow a machine user/).click()
    await page.getByRole('option').first().click()
    await button(dialog, 'Continue').click()
    const host = new URL(partner.url).host
    await dialog.getByText(`POST ${partner.url}/orders`).waitFor()
    const { error } = await scene.service.query(
      scene.admin,
      'mutation($id: ID!, $input: UpdateEndpointInput!) { updateEndpoint(id: $id, input: $input) { id } }',
      { id, input: { url: `${partner.url}/elsewhere` } },
    )
    expect(error).toBeNull()
    await button(dialog, `Call ${host}`).click()
    await dialog.getByText('Nothing was sent.').waitFor()
    expect(partner.received).toEqual([])
    await button(dialog, 'Back').last().click()
    await button(dialog, 'Continue').click()
    await dialog.getByText(`POST ${partner.url}/elsewhere`).waitFor()
    await button(dialog, `Call ${host}`).click()
    await dialog.getByText('200', { exact: true }).waitFor()
    expect(partner.received.map(({ url }) => url)).toEqual(['/elsewhere'])
  })

  test('shows an error of the template at its line, and asks before unsaved changes are lost', async () => {
    const id = await createEndpoint('broken', { transformationTemplate: '{{.Data.id}}' })
    const { page } = await open(`${path}/${id}`)
    const editor = page.getByRole('textbox', { name: 'Template' })
    await write(editor, '{\n{{if .Data.id}}\n{{.Dat.id}}\n{{end}}')
    const problems = page.getByRole('region', { name: 'Problems' })
    await problems.getByText('.Dat is not available to templates').waitFor()
    await button(problems, 'Line 3:3').waitFor()
    await button(page, 'Save template').click()
    await page.getByRole('alert').getByText('.Dat is not available').waitFor()
    await page.getByRole('link', { name: 'All endpoints' }).click()
    await button(dialogOf(page), 'Keep editing').click()
    expect(await editor.textContent()).toContain('.Dat.id')
    await button(page, 'Revert to the saved template').click()
    await problems.getByText('No problems').waitFor()
    await page.getByRole('link', { name: 'All endpoints' }).click()
    await panelOf(page).waitFor()
  })

  test('takes a sample from the call log, as far as bodies were logged', async () => {
    const id = await createEndpoint('sampled', {
      logLevel: 'FULL',
      inputMessageType: 'JSON',
      transformationTemplate: '{{toJson .Data}}',
    })
    const { error } = await scene.service.query(
      scene.admin,
      'mutation($id: ID!, $input: CreateEndpointTestCallInput!) { testEndpoint(endpointId: $id, input: $input) { requestId } }',
      { id, input: { machineUserId, method: 'POST', body: '{"name":"Ada","password":"p"}' } },
    )
    expect(error).toBeNull()
    const { page } = await open(`${path}/${id}`)
    await button(page, /^Sample: own text/).click()
    await page.getByRole('option', { name: /POST 200/ }).click()
    const preview = page.getByRole('textbox', { name: 'Preview' })
    await expect.poll(() => preview.textContent()).toBe('{"name":"Ada","password":"[REDACTED]"}')
    expect(new URL(page.url()).searchParams.get('call')).toMatch(/^[0-9a-f-]{36}$/)
  })
})
