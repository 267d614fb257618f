// The drills in their short form (docs/guides/operators/restore.md and upgrade.md), as an operator starts them.
// LOAD_SIZE=full plays the restore again, by the other method, with faults that it has to find.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { hasFormerRelease } from '@manager/harness/release.ts'
import { isFull } from '@manager/harness/load-sizes.ts'

const program = new URL('run.ts', import.meta.url).pathname

/** Plays one; all it prints, so that a failure shows why, and its exit code. */
async function drill(...args: string[]): Promise<{ code: number; said: string }> {
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, ...args])
    return { code: 0, said: stderr + stdout }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, said: stderr + stdout }
  }
}

const limit = { timeout: 400_000 }

test('a restored backup has everything that was acknowledged before it ended', limit, async () => {
  const { code, said } = await drill('restore', '--short')
  expect(said).toMatch(/ missing=0 .* audit_broken=0 .* secrets_closed=0 .* pilets_broken=0 .* PASS$/m)
  expect(code).toBe(0)
})

if (isFull)
  test('what is wrong with a restored database is found', limit, async () => {
    const plants = ['audit-row', 'lost-row', 'secret', 'pilet']
    const args = plants.flatMap((plant) => ['--plant', plant])
    const { code, said } = await drill('restore', '--short', '--method', 'dump', ...args)
    expect(said).toMatch(/ missing=1 .* audit_broken=1 .* secrets_closed=1 .* pilets_broken=1 .* FAIL$/m)
    expect(code).toBe(1)
  })

test.skipIf(!hasFormerRelease())(
  'a former release and this one are exchanged without a failed request',
  limit,
  async () => {
    const { code, said } = await drill('upgrade', '--short')
    expect(said).toMatch(/ failed=0 missing=0 bad_exits=0 audit_broken=0 .* PASS$/m)
    expect(code).toBe(0)
  },
)
