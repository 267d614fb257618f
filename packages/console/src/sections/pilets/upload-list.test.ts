import { expect, test } from 'vitest'
import {
  type Upload,
  type UploadChange,
  changeUploads,
  findNext,
  isReady,
  maxFileBytes,
  maxFiles,
  measureProgress,
} from './upload-list.ts'

const createFile = (size = 4): File => {
  const file = new File(['text'], 'cart-1.0.0.tgz')
  Object.defineProperty(file, 'size', { value: size })
  return file
}
const apply = (...changes: UploadChange[]): readonly Upload[] => changes.reduce(changeUploads, [])
const add = (id: number, size?: number): UploadChange => ({ kind: 'add', id, file: createFile(size) })
const read = (id: number, version = '1.0.0'): UploadChange => ({
  kind: 'read',
  id,
  result: { kind: 'package', manifest: { name: 'cart', version, description: '' } },
})
const listStates = (uploads: readonly Upload[]): string[] => uploads.map(({ state }) => state.kind)

test('files are uploaded one after another', () => {
  const started = apply(add(1), read(1), add(2), read(2, '2.0.0'), { kind: 'start' })
  expect(listStates(started)).toEqual(['waiting', 'waiting'])
  expect(findNext(started)?.id).toBe(1)
  const state = { kind: 'sending', sentBytes: 2, totalBytes: 4 } as const
  const sending = changeUploads(started, { kind: 'state', id: 1, state })
  expect(findNext(sending)).toBeUndefined()
  expect(measureProgress(sending)).toBe(0.25)
  const done = changeUploads(sending, {
    kind: 'state',
    id: 1,
    state: { kind: 'done', packageId: 'a', isEnabled: true },
  })
  expect(findNext(done)?.id).toBe(2)
})

test('a version that is in the list twice and a file that no installation accepts are rejected', () => {
  const uploads = apply(add(1), read(1), add(2), read(2), add(3, maxFileBytes + 1), read(3))
  expect(uploads.map(({ state }) => (state.kind === 'rejected' ? state.problem : state.kind))).toEqual([
    'ready',
    'repeated',
    'tooLarge',
  ])
})

test('a script is ready when it has a name and a version', () => {
  const script = apply(add(1), { kind: 'read', id: 1, result: { kind: 'script' } })
  expect(script.map(isReady)).toEqual([false])
  const manifest = { name: 'cart', version: '1.0.0', description: '' }
  expect(changeUploads(script, { kind: 'edit', id: 1, manifest }).map(isReady)).toEqual([true])
})

test('the list has a maximum length', () => {
  const changes = Array.from({ length: maxFiles + 1 }, (_, index) => add(index))
  expect(apply(...changes)).toHaveLength(maxFiles)
})
