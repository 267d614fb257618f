// Backends that unregister while a person looks at them. The API no longer lists them, so the page remembers them.
import { useState } from 'react'
import type { Backend } from './deployment-types.ts'

/** More backends than this are not remembered, for example when a large deployment restarts. */
const maxGone = 20

type Remembered = { readonly shown: readonly Backend[]; readonly gone: readonly Backend[] }

/** Returns the remembered backends after the list was read again. */
export function rememberGone({ shown, gone }: Remembered, next: readonly Backend[]): Remembered {
  const ids = new Set(next.map(({ id }) => id))
  const lost = shown.filter(({ id }) => !ids.has(id))
  // A backend that registers again keeps its id.
  return { shown: next, gone: [...lost, ...gone.filter(({ id }) => !ids.has(id))].slice(0, maxGone) }
}

const nothing: readonly Backend[] = []

/**
 * Returns the backends that were listed before and are not listed any more. The list must be complete: a backend that
 * is missing from one of several pages may be on another one.
 */
export function useGoneBackends(
  list: readonly Backend[] | undefined,
  isComplete: boolean,
): readonly Backend[] {
  const [remembered, setRemembered] = useState<Remembered>({ shown: nothing, gone: nothing })
  if (list === undefined || !isComplete) return nothing
  if (list !== remembered.shown) setRemembered(rememberGone(remembered, list))
  return remembered.gone
}
