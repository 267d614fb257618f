// Tests that sections decide only by the table of actions which controls they show, and that every mutation belongs to
// an action.
import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { actions } from '../src/app/actions.ts'
import * as documents from '../src/generated/documents.ts'

const folder = new URL('../src/', import.meta.url).pathname

/** Returns the mutations of a document. The generated documents contain no spaces. */
const listMutations = (document: string): string[] =>
  document.startsWith('mutation')
    ? [...document.matchAll(/(?:^mutation[^{]*\{|\})(?:\w+:)?(\w+)\(/g)].map(([, name]) => name ?? '')
    : []

test('every mutation of the console belongs to an action, and every action has a mutation', () => {
  const used = new Set(Object.values(documents).flatMap(listMutations))
  const known = new Set(Object.values(actions).flatMap(({ mutations }) => [...mutations]))
  expect(used.size).toBeGreaterThan(20)
  // Add a missing mutation to an action in packages/console/src/app/actions.ts, and set `action` on its control to the
  // name of that action.
  expect([...used].toSorted()).toEqual([...known].toSorted())
})

test('no section decides by the name of a permission to change something', () => {
  const files = globSync('{sections,kit}/**/*.{ts,tsx}', { cwd: folder })
  expect(files.length).toBeGreaterThan(80)
  const own = files.filter((file) =>
    /'[A-Z0-9_]+_(?:WRITE|CREATE|RUN|WAKE|UPLOAD|MARK|TEST)'/.test(readFileSync(folder + file, 'utf8')),
  )
  expect(own).toEqual([])
})

test('mutations are found in documents with aliases and several fields', () => {
  expect(listMutations('mutation a($id:ID!){row:createThing(input:{a:1}){id}deleteThing(id:$id)}')).toEqual([
    'createThing',
    'deleteThing',
  ])
})
