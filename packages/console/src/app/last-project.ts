// The project that this browser opened last. The start page offers it first.
const storageKey = 'svc-console.last-project'

export const readLastProject = (): string | null => localStorage.getItem(storageKey)
export const saveLastProject = (slug: string): void => localStorage.setItem(storageKey, slug)
