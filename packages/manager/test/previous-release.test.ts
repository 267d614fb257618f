// Tests which commit counts as the previous release, in clones with and without tags.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { defaultRef } from '@manager/harness/release.ts'

let checkout: string
/** Settings of the user, such as signed commits, do not apply. */
const env = { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' }
const git = (...args: string[]): string =>
  execFileSync('git', args, { cwd: checkout, encoding: 'utf8', env }).trim()
const commit = (subject: string): string => {
  git('-c', 'user.name=x', '-c', 'user.email=x@example.com', 'commit', '-q', '--allow-empty', '-m', subject)
  return git('rev-parse', 'HEAD')
}
beforeAll(() => {
  checkout = mkdtempSync(`${tmpdir()}/previous-release-`)
  git('init', '-q')
})
afterAll(() => rmSync(checkout, { recursive: true }))

test('a tag counts first, then the commit of a release, then the state before the newest migration', () => {
  const first = commit('feat: start')
  mkdirSync(`${checkout}/packages/manager/migrations`, { recursive: true })
  writeFileSync(`${checkout}/packages/manager/migrations/0001_start.sql`, 'select 1')
  git('add', '-A')
  const migrated = commit('feat(db): add a table')
  expect(defaultRef(checkout)).toBe(`${migrated}~1`)
  expect(git('rev-parse', defaultRef(checkout))).toBe(first)

  const release = commit('chore(release): v0.9.0')
  // A release is not its own previous release.
  expect(defaultRef(checkout)).toBe(`${migrated}~1`)
  commit('fix: mention chore(release): v1.0.0 in the middle')
  expect(defaultRef(checkout)).toBe(release)

  git('tag', 'v0.8.0', migrated)
  expect(defaultRef(checkout)).toBe('v0.8.0')
})
