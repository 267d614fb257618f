// The journey of a person who connects a partner and releases a frontend: every page about integration, releases and
// evidence is used once.
import type { Locator, Page } from 'playwright-core'
import { seedMachineUser } from '@manager/harness/seed.ts'
import { startUpstream } from '../../../manager/test/kit/upstream.ts'
import { findButton } from './find-button.ts'
import { expectFocus, step } from './focus.ts'
import { type Hands, useKeyboard, usePointer } from './hands.ts'
import { chooseFiles, pack } from './pilet-packages.ts'
import { type Scene, waitForPage } from './scene.ts'

const ways = { pointer: usePointer, keyboard: useKeyboard }
type Journey = { hands: Hands; page: Page; way: keyof typeof ways; partnerUrl: string }

/** Runs the journey. Returns developer console messages and foreign requests. */
export async function makeIntegrationJourney(scene: Scene, way: keyof typeof ways): Promise<string[]> {
  const visit = await scene.visit(scene.admin)
  const { page } = visit
  const partner = await startUpstream()
  const journey: Journey = { hands: ways[way](page), page, way, partnerUrl: partner.url }
  const { id } = await seedMachineUser(scene.service.sql, scene.project)
  await scene.service.sql.query('update machine_users set name = $2 where id = $1', [id, `caller-${way}`])
  try {
    await visit.open('/p/main/overview')
    await waitForPage(page)
    for (const [name, work] of Object.entries(steps)) await step(page, name, () => work(journey))
  } finally {
    await partner.close()
  }
  return [...visit.complaints, ...visit.foreignRequests]
}

const steps: Readonly<Record<string, (journey: Journey) => Promise<void>>> = {
  'create an endpoint': createEndpoint,
  'write a template': writeTemplate,
  'make a test call': makeTestCall,
  'read the call log': readCalls,
  'create a trigger': createTrigger,
  'upload a pilet': uploadPilet,
  'translate a text': translate,
  'describe a deployment': describeDeployment,
  'look at notifications': readNotifications,
  'review access': reviewAccess,
  'answer an audit question': readEvidence,
}

const findDialog = (page: Page, name: string | RegExp): Locator => page.getByRole('dialog', { name })
const findPanel = (page: Page): Locator => page.getByRole('complementary')
const findField = (within: Page | Locator, name: RegExp): Locator => within.getByRole('textbox', { name })

/** Replaces the text of a field. */
async function replace({ hands, page }: Journey, field: Locator, text: string): Promise<void> {
  await hands.fill(field, '')
  await page.keyboard.press('Control+a')
  await page.keyboard.type(text)
}

/** Chooses the application of a new object. */
async function chooseApplication({ hands, page }: Journey, form: Locator): Promise<void> {
  await hands.press(form.getByRole('button', { name: /^Application/ }))
  await expectFocus(findDialog(page, 'Application').locator('input'))
  await page.keyboard.type('Application of')
  await hands.choose(page.getByRole('option', { name: 'Application of main' }))
}

async function createEndpoint(journey: Journey): Promise<void> {
  const { hands, page, way, partnerUrl } = journey
  const form = findDialog(page, 'New endpoint')
  await hands.goTo('ESB')
  await hands.press(findButton(page, 'New endpoint').first())
  await chooseApplication(journey, form)
  await replace(journey, findField(form, /^Name/), `Orders by ${way}`)
  await replace(journey, findField(form, /^Path/), `/orders-${way}`)
  await replace(journey, findField(form, /^Target URL/), `${partnerUrl}/orders`)
  await hands.press(findButton(form, 'Create'))
  await expectFocus(findPanel(page))
}

async function writeTemplate({ hands, page, way }: Journey): Promise<void> {
  await hands.press(findPanel(page).getByRole('link', { name: 'Add template' }))
  const editor = page.getByRole('textbox', { name: 'Template', exact: true })
  await hands.fill(editor, '{"order": {{toJson .Data.id}}}')
  // Tab indents in the editor until Escape is pressed.
  await page.keyboard.press('Escape')
  await page.getByText('No problems').waitFor()
  await hands.press(findButton(page, 'Save template'))
  await page.getByText(`Saved the template of Orders by ${way}`).waitFor()
}

async function makeTestCall({ hands, page, way, partnerUrl }: Journey): Promise<void> {
  const dialog = page.getByRole('dialog').last()
  const { host } = new URL(partnerUrl)
  // The next stop would be the editor, in which Tab indents.
  if (way === 'keyboard') await page.keyboard.press('Shift+Tab')
  await hands.press(findButton(page, 'Test call'))
  await hands.press(dialog.getByRole('button', { name: /^Allow a machine user/ }))
  await page.keyboard.type(`caller-${way}`)
  await hands.choose(page.getByRole('option', { name: `caller-${way}` }))
  await hands.press(findButton(dialog, 'Continue'))
  await hands.press(findButton(dialog, `Call ${host}`))
  await dialog.getByText('200', { exact: true }).waitFor()
  await hands.press(dialog.getByRole('link', { name: 'Show in the call log' }))
}

async function readCalls({ hands, page, way }: Journey): Promise<void> {
  const row = page.locator('.table-row', { hasText: `POST Orders by ${way}` })
  await hands.pressRow(row)
  const panel = findPanel(page)
  await panel.getByRole('heading', { name: `POST Orders by ${way}` }).waitFor()
  await expectFocus(panel)
  await hands.close(panel)
  await expectFocus(row)
  await hands.pickOption(
    page.getByRole('button', { name: /^Status/ }),
    page.getByRole('option', { name: '2xx, successful' }),
  )
  await row.waitFor()
  await hands.pickItem(page.getByRole('listbox', { name: 'Calls by day' }).getByRole('option').last())
  await hands.pickItem(
    page.getByRole('listbox', { name: 'Calls by hour' }).getByRole('option').nth(new Date().getHours()),
  )
  await row.waitFor()
}

async function createTrigger(journey: Journey): Promise<void> {
  const { hands, page, way } = journey
  const form = findDialog(page, 'New trigger')
  const panel = findPanel(page)
  await hands.goTo('Triggers')
  await hands.press(findButton(page, 'New trigger').first())
  await chooseApplication(journey, form)
  await replace(journey, findField(form, /^Name/), `Nightly by ${way}`)
  await replace(journey, findField(form, /^Schedule/), '30 2 * * *')
  await form.getByText('At 02:30, every day, UTC').waitFor()
  await hands.press(findButton(form, 'Create'))
  await expectFocus(panel)
  await hands.press(findButton(panel, 'Run now'))
  await hands.close(findDialog(page, /^Run Nightly/))
  await expectFocus(findButton(panel, 'Run now'))
  await hands.press(findButton(panel, 'Disable'))
  await panel.getByText('The trigger is disabled').waitFor()
  await expectFocus(findButton(panel, 'Enable'))
  await hands.press(findButton(panel, 'All runs'))
  await page.getByRole('heading', { name: 'No runs yet' }).waitFor()
  await hands.press(findButton(page, 'All triggers'))
  await panel.waitFor()
}

async function uploadPilet({ hands, page, way }: Journey): Promise<void> {
  const dialog = findDialog(page, 'Upload pilets')
  const panel = findPanel(page)
  await hands.goTo('Pilets')
  await hands.press(findButton(page, 'Upload').first())
  const file = pack({ name: `journey-${way}`, version: '1.0.0' }, { 'index.js': 'export {}' })
  await chooseFiles(page, [file], () => hands.press(findButton(dialog, 'Choose files')))
  await hands.press(findButton(dialog, 'Upload 1 file'))
  await dialog.getByText('uploaded, enabled').waitFor()
  await hands.press(findButton(dialog, 'Open'))
  await panel.getByRole('heading', { name: `journey-${way}` }).waitFor()
  await hands.press(findButton(panel, 'Disable'))
  await hands.press(findButton(page.getByRole('dialog'), 'Disable'))
  await panel.getByText('This version is disabled').waitFor()
  await hands.close(panel)
}

async function translate({ hands, page, way }: Journey): Promise<void> {
  const grid = page.getByRole('grid', { name: 'Language packs' })
  await hands.goTo('Language packs')
  await hands.press(findButton(page, 'New locale').first())
  await page.keyboard.type(way === 'keyboard' ? 'de' : 'fr')
  await page.keyboard.press('Enter')
  const panel = findPanel(page)
  await expectFocus(panel)
  await hands.close(panel)
  await hands.press(findButton(page, 'New key').first())
  await page.keyboard.type(`greeting.${way}`)
  await page.keyboard.press('Enter')
  await hands.pressCell(
    grid,
    grid
      .getByRole('row', { name: `greeting.${way}` })
      .getByRole('gridcell')
      .first(),
  )
  await page.keyboard.type('Hallo')
  await page.keyboard.press('Enter')
  await page.getByText('1 unsaved change').waitFor()
  await hands.press(findButton(page, 'Save'))
  await page.getByText('Saved 1 translation').waitFor()
  await expectFocus(grid)
}

async function describeDeployment(journey: Journey): Promise<void> {
  const { hands, page, way } = journey
  const environment = way === 'keyboard' ? 'dev' : 'qas'
  const row = page.getByRole('row', { name: new RegExp(`^Application of main .*${environment}$`) })
  const panel = findPanel(page)
  const form = findDialog(page, /^New specification/)
  await hands.goTo('Deployments')
  await hands.pressRow(row)
  await expectFocus(panel)
  await hands.press(findButton(panel, 'New specification'))
  await hands.fill(findField(form, /^Workload/), `shop/${way}`)
  await hands.fill(findField(form, /^Image/), 'registry.example/web:1')
  await hands.press(findButton(form, 'Create'))
  await page.getByText(`Saved shop/${way}`).waitFor()
  await hands.close(panel)
  await expectFocus(row)
}

async function readNotifications({ hands, page }: Journey): Promise<void> {
  const row = page.getByRole('row', { name: /^Application of main/ })
  const panel = findPanel(page)
  await hands.goTo('Notifications')
  await hands.pressRow(row)
  await panel.getByText('No notification was sent in this time.').waitFor()
  await hands.close(panel)
  await expectFocus(row)
  await hands.press(page.getByRole('link', { name: 'My inbox' }))
  await page.getByText('Unread', { exact: true }).waitFor()
}

async function reviewAccess({ hands, page }: Journey): Promise<void> {
  const panel = findPanel(page)
  const dialog = findDialog(page, 'Attest the review')
  await hands.goTo('Access review')
  await hands.press(findButton(page, 'Review the installation'))
  const row = page.getByRole('grid', { name: 'Entries' }).getByRole('row').nth(1)
  await hands.pressRow(row)
  await expectFocus(panel)
  await hands.press(findButton(panel, 'Modify'))
  await hands.fill(findField(panel, /^Comment/), 'fewer rights')
  await hands.close(panel)
  await hands.press(findButton(page, 'Attest'))
  await hands.pickOption(
    dialog.getByRole('button', { name: /without a decision/ }),
    page.getByRole('option', { name: 'Approve' }),
  )
  await hands.turn(dialog.getByRole('checkbox'))
  await hands.press(dialog.getByRole('button', { name: /^Attest \d+ entries$/ }))
  await page.getByText(/^Attested \d+ entries:/).waitFor()
  await hands.press(findButton(page, 'Print view'))
  await hands.press(findButton(page, 'Back to the list'))
  await page.getByRole('grid', { name: 'Entries' }).waitFor()
}

async function readEvidence({ hands, page }: Journey): Promise<void> {
  const panel = findPanel(page)
  const dialog = findDialog(page, /^Export the audit trail/)
  await hands.goTo('Evidence')
  await hands.press(findButton(page, 'Export trail'))
  await hands.close(dialog)
  await expectFocus(findButton(page, 'Export trail'))
  await hands.fill(page.getByRole('searchbox', { name: 'Query or requirement' }), 'Attested access')
  await hands.pressRow(page.getByRole('row', { name: /^Attested access reviews/ }))
  await page.getByRole('heading', { level: 1, name: 'Attested access reviews' }).waitFor()
  const row = page.getByRole('row').nth(1)
  await hands.pressRow(row)
  await expectFocus(panel)
  await hands.close(panel)
  await hands.press(findButton(page, 'Print view'))
  await page.getByRole('heading', { level: 1, name: /^Evidence: / }).waitFor()
  await hands.press(findButton(page, 'Back to the list'))
  await row.waitFor()
}
