// Tests that the commands in the guide generate-types.md generate types that compile in all three languages.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { ensureGo } from '@manager/harness/engines/install.ts'
import { root } from '../src/pages.ts'

const folder = mkdtempSync(join(tmpdir(), 'manager-types-'))
afterAll(() => rmSync(folder, { recursive: true }))

const guide = readFileSync(`${root}docs/guides/backends/generate-types.md`, 'utf8')
const commands = [...guide.matchAll(/^ *```sh\n *([^\n]+)\n *```$/gm)].map(([, command = '']) => command)
/**
 * Runs the command that the guide shows for this file, with the test folder as the target. Returns the path
 * of the generated file.
 */
function generate(file: string): string {
  const command = commands.find((one) => one.includes(` ${file}`)) ?? ''
  const target = join(folder, file)
  execFileSync('sh', ['-c', command.replace(` ${file}`, ` ${target}`)], { cwd: root, stdio: 'pipe' })
  return target
}
const run = (program: string, args: string[]): string =>
  execFileSync(program, args, { encoding: 'utf8', cwd: root, env: { ...process.env, GO111MODULE: 'off' } })

test('TypeScript', () => {
  const file = generate('manager-api.ts')
  expect(readFileSync(file, 'utf8')).toContain('RegisteredBackend')
  run('npx', ['tsc', '--noEmit', '--strict', '--ignoreConfig', file])
})

test('Python', () => {
  const file = generate('manager_api.py')
  expect(readFileSync(file, 'utf8')).toContain('class RegisteredBackend')
  run('python3', ['-W', 'error', file])
})

test('Go', () => {
  ensureGo()
  const file = generate('manager_api.go')
  expect(readFileSync(file, 'utf8')).toContain('type RegisteredBackend struct')
  run('go', ['vet', file])
})
