// These tests kill the process during uploads to a bucket.
import { afterAll, beforeAll, test } from 'vitest'
import { useProject } from '../../../test/kit/project.ts'
import { type Bucket, createBucket } from '../../../test/kit/s3.ts'
import { expectWholeAfterKills } from '../../../test/kit/upload-kills.ts'

const { service, project, member } = useProject()
let bucket: Bucket
beforeAll(async () => {
  bucket = await createBucket()
})
afterAll(() => bucket.close())

test('the store s3: killed several times during an upload', { timeout: 900_000 }, async () => {
  const tester = await member('tester', 'tester')
  await expectWholeAfterKills({ service, projectId: project.id, tester, bucket }, 5)
})
