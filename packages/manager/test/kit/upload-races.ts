// Tests 50 concurrent uploads of one version to three processes: one is stored, and the others leave nothing behind.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, headersOf } from '@manager/harness/callers.ts'
import { sha256Of } from './blobs.ts'
import { piletPath, uploadPilet } from '@manager/harness/pilets.ts'
import { type ServiceProcess, startProcess } from '@manager/harness/process.ts'
import { useProject } from './project.ts'
import { type Bucket, createBucket } from './s3.ts'

/** Defines the tests for one blob store. */
export function testUploadRaces(store: 'postgres' | 's3'): void {
  const { service, project, member } = useProject()
  let tester: Person
  let bucket: Bucket | null = null
  describe(`fifty uploads of one version at once, in the store ${store}`, () => {
    let processes: ServiceProcess[] = []
    beforeAll(async () => {
      bucket = store === 's3' ? await createBucket() : null
      tester = await member('tester', 'tester')
      const env = bucket?.env ?? {}
      processes = await Promise.all([1, 2, 3].map(() => startProcess(service.database.url, env)))
    })
    afterAll(async () => {
      for (const { child } of processes) child.kill('SIGTERM')
      await Promise.all(processes.map(({ exit }) => exit))
      bucket?.close()
    })

    test.each([
      ['different bytes', () => randomBytes(200_000)],
      [
        'the same bytes',
        (
          (same) => () =>
            same
        )(randomBytes(200_000)),
      ],
    ])('%s: one is stored, the others are answered 409 and leave nothing', async (what, bytesOf) => {
      const pilet = { projectId: project.id, name: `${store}-${what.replaceAll(' ', '-')}`, version: '1.0.0' }
      const before = await traces()
      const answers = await Promise.all(
        Array.from({ length: 50 }, async (_, index) => {
          const bytes = bytesOf()
          const to = processes[index % 3] as ServiceProcess
          return { bytes, ...(await uploadPilet(to, tester, { ...pilet, bytes })) }
        }),
      )
      const count = (status: number): number => answers.filter((answer) => answer.status === status).length
      expect([count(200), count(409)]).toEqual([1, 49])
      const winner = answers.find(({ status }) => status === 200)
      const hash = sha256Of(winner?.bytes ?? Buffer.alloc(0))
      expect(winner?.body).toMatchObject({ hash })
      const after = await traces()
      expect(after.orphans).toBe(0)
      expect([after.blobs - before.blobs, after.bytes - before.bytes]).toEqual([1, 1])
      for (const { url } of processes) {
        const response = await fetch(url + piletPath(pilet), { headers: headersOf(tester) })
        expect(sha256Of(Buffer.from(await response.arrayBuffer()))).toBe(hash)
      }
    })

    /** Counts all blob rows, blob rows without references, and blobs with stored bytes. */
    const traces = async () => {
      const { rows } = await service.sql.query<{ blobs: number; orphans: number; bytes: number }>(
        `select count(*)::int blobs, count(unreferenced_since)::int orphans,
         (select count(distinct sha256)::int from blob_chunks) bytes from blobs`,
      )
      const row = rows[0] as { blobs: number; orphans: number; bytes: number }
      return bucket === null ? row : { ...row, bytes: (await bucket.keys()).length }
    }
  })
}
