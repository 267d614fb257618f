// Lists the routes of a running service. Tests that use this list automatically include new routes.
import type { TestApp } from './app.ts'

const anyId = '0b54bc1c-2b1f-4a68-9a55-0c8a51a4c0de'

export type ApiRoute = { name: string; method: string; path: string; kind: string; needsUser: boolean }

/**
 * Returns every route except automatic HEAD routes, with parameters filled in. ANY stands for a route that accepts all
 * methods.
 */
export function routesOf(app: TestApp): ApiRoute[] {
  const byPath = Map.groupBy(
    app.app.routes.filter(({ method }) => method !== 'HEAD'),
    ({ path }) => path,
  )
  return [...byPath.values()].flatMap((sharing) => {
    const isAny = sharing.length > 10
    return (isAny ? sharing.filter(({ method }) => method === 'POST') : sharing).map(
      ({ method, path, policy }) => ({
        name: `${isAny ? 'ANY' : method} ${path}`,
        method,
        path: path.replace(/:[A-Za-z_]+/g, anyId).replaceAll('*', 'x'),
        kind: Object.keys(policy)[0] as string,
        needsUser: 'user' in policy || 'can' in policy,
      }),
    )
  })
}

/** Returns the routes that require the proxy secret. */
export const gatedRoutes = (app: TestApp): ApiRoute[] =>
  routesOf(app).filter(({ kind }) => kind !== 'open' && kind !== 'machine')
