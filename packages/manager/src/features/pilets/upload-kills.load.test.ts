// These tests kill the process during uploads to PostgreSQL.
import { test } from 'vitest'
import { loadSize } from '@manager/harness/load-sizes.ts'
import { useProject } from '../../../test/kit/project.ts'
import { expectWholeAfterKills } from '../../../test/kit/upload-kills.ts'

const { service, project, member } = useProject()

test('the store postgres: killed several times during an upload', { timeout: 900_000 }, async () => {
  const tester = await member('tester', 'tester')
  await expectWholeAfterKills({ service, projectId: project.id, tester, bucket: null }, loadSize(3, 16))
})
