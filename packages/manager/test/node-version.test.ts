// Tests that every command reports an outdated Node version before it loads TypeScript.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const root = new URL('../../../', import.meta.url).pathname
const guard = 'packages/manager/src/node-version.cjs'
const { scripts, engines } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as {
  scripts: Record<string, string>
  engines: { node: string }
}

/** Returns the exit code and output of the version check for this Node version. */
function guardAt(version: string): [number | null, string] {
  const program = `Object.defineProperty(process.versions, 'node', { value: '${version}' }); require('./${guard}')`
  const { status, stderr } = spawnSync(process.execPath, ['-e', program], { cwd: root, encoding: 'utf8' })
  return [status, stderr]
}

test.each(['18.20.8', '20.19.0', '22.18.0', '23.11.1'])('Node %s is told which one is needed', (version) => {
  expect(guardAt(version)).toEqual([
    1,
    `Node 24 or newer is required, found Node ${version}: run ". .ci/node" first, or install Node 24\n`,
  ])
})

test.each(['24.0.0', '26.1.0', '100.0.0'])('Node %s passes', (version) => {
  expect(guardAt(version)).toEqual([0, ''])
})

test('every command that loads TypeScript is guarded, and the version is the one that the package names', () => {
  expect(engines.node).toBe('>=24')
  const unguarded = Object.entries(scripts).filter(([, line]) => !line.startsWith(`node ${guard} && `))
  // The formatter and the linter also run on older versions.
  expect(unguarded.map(([name]) => name)).toEqual(['fix'])
})
