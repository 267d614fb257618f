// This test deletes a project during an upload to it.
import { expect, test, vi } from 'vitest'
import { whileLocked } from '../../../test/kit/locks.ts'
import { uploadPilet } from '@manager/harness/pilets.ts'
import { useProject } from '../../../test/kit/project.ts'

const { service, project, member, admin } = useProject()
const untilWaiting = (sessions: number): Promise<void> =>
  vi.waitFor(
    async () => {
      const { rowCount } = await service.sql.query(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      )
      expect(rowCount).toBe(sessions)
    },
    { timeout: 20_000 },
  )

test('the deletion waits for the upload, takes its version along, and neither fails', async () => {
  const tester = await member('tester', 'tester')
  const pilet = { projectId: project.id, name: 'menu', version: '1.0.0' }
  const [uploading, deleting] = await whileLocked(
    service.database.url,
    ['lock table pilet_packages in share mode', []],
    async (commit) => {
      const upload = uploadPilet(service, tester, pilet)
      await untilWaiting(1)
      const deletion = service.query(admin, 'mutation($id: ID!) { deleteProject(id: $id) }', {
        id: project.id,
      })
      await untilWaiting(2)
      await commit()
      return Promise.all([upload, deletion])
    },
  )
  expect([uploading.status, deleting.error]).toEqual([200, null])
  const { rows } = await service.sql.query(
    'select (select count(*)::int from pilet_packages) packages, count(unreferenced_since)::int orphans from blobs',
  )
  expect(rows).toEqual([{ packages: 0, orphans: 1 }])
})
