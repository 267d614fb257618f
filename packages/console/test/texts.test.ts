import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findUnusedKeys } from '../tools/texts.ts'

test('a text is used by a literal or by the start of a template, and reported otherwise', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'console-texts-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(path.join(folder, 'page.tsx'), "t('page.title'); t(`page.role.${role}`); 'page.titles'")
  const keys = ['page.title', 'page.role.owner', 'page.role.tester', 'page.unused', 'page.roles.owner']
  expect(findUnusedKeys(folder, keys)).toEqual(['page.unused', 'page.roles.owner'])
})
