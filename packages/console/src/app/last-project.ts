// The project that this browser opened last. The start page offers it first.
import { readStored, saveStored } from '../api/browser-storage.ts'

const storageKey = 'svc-console.last-project'

export const readLastProject = (): string | null => readStored(storageKey)
export const saveLastProject = (slug: string): void => saveStored(storageKey, slug)
