// Runs short versions of the drills (docs/guides/operators/restore.md and upgrade.md) with the operator command.
// LOAD_SIZE=full repeats the restore with other backup methods and with planted faults that the drill must find.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { hasPreviousRelease } from '@manager/harness/release.ts'
import { isFull } from '@manager/harness/load-sizes.ts'

const program = new URL('run.ts', import.meta.url).pathname

/** Runs a drill. Returns its exit code and all of its output, so that a failing test shows the reason. */
async function drill(...args: string[]): Promise<{ code: number; output: string }> {
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, ...args])
    return { code: 0, output: stderr + stdout }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, output: stderr + stdout }
  }
}

const limit = { timeout: 400_000 }

test('a restored backup has everything that was acknowledged before it ended', limit, async () => {
  const { code, output } = await drill('restore', '--short')
  expect(output).toMatch(/ missing=0 .* audit_broken=0 .* secrets_unreadable=0 .* pilets_broken=0 .* PASS$/m)
  expect(code).toBe(0)
})

if (isFull)
  test('what is wrong with a restored database is found', limit, async () => {
    const plants = ['audit-row', 'lost-row', 'secret', 'pilet']
    const args = plants.flatMap((plant) => ['--plant', plant])
    const { code, output } = await drill('restore', '--short', '--method', 'dump', ...args)
    expect(output).toMatch(
      / missing=1 .* audit_broken=1 .* secrets_unreadable=1 .* pilets_broken=1 .* FAIL$/m,
    )
    expect(code).toBe(1)
  })

test.skipIf(!hasPreviousRelease())(
  'a former release and this one are exchanged without a failed request',
  limit,
  async () => {
    const { code, output } = await drill('upgrade', '--short')
    expect(output).toMatch(/ failed=0 missing=0 bad_exits=0 audit_broken=0 .* PASS$/m)
    expect(code).toBe(0)
  },
)
