// A backend sends a notification: it appears in the open inbox, and the maintainer sees that it was delivered and read.
import { seedMachineUser } from '@manager/harness/seed.ts'
import { expect, test } from 'vitest'
import { emit, targetFields } from '../../../manager/test/kit/comms.ts'
import { runSchedule } from '../../../manager/test/kit/schedules.ts'
import { step } from '../kit/focus.ts'
import { createReader } from '../kit/inbox-reader.ts'
import { useConsole, waitForPage } from '../kit/scene.ts'

const scene = useConsole()

test('a notification of a backend appears in the open inbox without a reload, and the counts show it', async () => {
  const { service, project } = scene
  const ada = await createReader(scene, 'ada', ['Earlier order'])
  const { token } = await seedMachineUser(service.sql, project)
  const { page, open, complaints } = await scene.visit(ada)
  // The test advances the clock of the page, so that it does not wait for the next request of the inbox.
  await page.clock.install()
  await open('/me?tab=inbox')
  const titles = page.getByRole('list', { name: 'Notifications' }).locator('.notification-title')
  await expect.poll(() => titles.allTextContents()).toEqual(['Earlier order'])
  const sent = await emit(service, token, {
    ...targetFields(project),
    title: 'Order 4711',
    recipients: [ada.id],
  })
  expect(sent.body['recipient_count']).toBe(1)
  await step(page, 'the inbox shows it', async () => {
    await page.clock.fastForward(6_000)
    await expect.poll(() => titles.allTextContents()).toEqual(['Order 4711', 'Earlier order'])
    await page.getByRole('button', { name: 'Notifications: 2 unread' }).waitFor()
    await page.getByRole('button', { name: 'Mark as read' }).first().click()
    await page.getByRole('button', { name: 'Notifications: 1 unread' }).waitFor()
  })
  // The seeded notification was not counted when it was inserted.
  await runSchedule(service, 'notification-counts')
  const maintainer = await scene.visit(await scene.member('mia', 'developer'))
  await maintainer.open('/p/main/notifications')
  await waitForPage(maintainer.page)
  await step(maintainer.page, 'the counts show it', async () => {
    const row = maintainer.page.getByRole('row', { name: new RegExp(project.applicationSlug) })
    await row.getByText('100%').first().waitFor()
    await row.click()
    const panel = maintainer.page.getByRole('complementary')
    await panel.getByRole('table').waitFor()
    expect(await panel.getByRole('table').locator('tbody td').allTextContents()).toEqual(['1', '1', '1', '1'])
  })
  expect([...complaints, ...maintainer.complaints]).toEqual([])
})
