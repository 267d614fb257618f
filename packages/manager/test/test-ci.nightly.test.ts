// The command that runs a test tier in CI: a test that fails once does not reject a change, a broken one does.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const root = new URL('../../../', import.meta.url).pathname
let folder: string
beforeAll(() => {
  // The folder lies in the workspace, so that its tests find vitest.
  folder = mkdtempSync(join(root, 'node_modules', '.test-ci-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs the command on files with the given contents. */
function runTier(name: string, files: readonly string[]) {
  const tier = mkdtempSync(join(folder, name))
  for (const [index, text] of files.entries())
    writeFileSync(
      join(tier, `t${index}.test.js`),
      `import { existsSync, writeFileSync } from 'node:fs'
       import { expect, test } from 'vitest'
       const isFirstRun = !existsSync(${JSON.stringify(join(tier, `mark${index}`))})
       writeFileSync(${JSON.stringify(join(tier, `mark${index}`))}, '')
       ${text}`,
    )
  const config = join(tier, 'vitest.config.js')
  writeFileSync(config, `export default { test: { root: ${JSON.stringify(tier)}, include: ['*.test.js'] } }`)
  const { status, stdout } = spawnSync(
    process.execPath,
    [join(root, 'packages/manager/tools/test-ci.ts'), config],
    // Without VITEST*, the inner vitest does not take itself for a worker of this one.
    { cwd: root, encoding: 'utf8', env: { PATH: process.env['PATH'], NO_COLOR: '1' } },
  )
  return { status, stdout }
}
const good = `test('good', () => expect(1).toBe(1))`
const unsteady = `test('unsteady', () => expect(isFirstRun).toBe(false))`
const broken = `test('broken', () => expect(1).toBe(2))`

describe('a tier in CI', () => {
  test('passes without a second run if all tests pass', () => {
    const { status, stdout } = runTier('good', [good, good])
    expect([status, stdout.includes('once more')]).toEqual([0, false])
  })

  test('passes and names a test that fails only once', () => {
    const { status, stdout } = runTier('unsteady', [good, unsteady])
    expect(status).toBe(0)
    expect(stdout).toMatch(/unsteady test, please repair: .*t1\.test\.js: unsteady/)
  })

  test('fails if a test fails twice', () => {
    const { status, stdout } = runTier('broken', [unsteady, broken])
    expect([status, stdout.includes('please repair')]).toEqual([1, false])
  })

  test('fails at once if more than three files fail', () => {
    const { status, stdout } = runTier('many', [unsteady, unsteady, unsteady, unsteady])
    expect([status, stdout.includes('once more')]).toEqual([1, false])
  })
})
