// Starts the service with a hook that prints every package module it loads.
import { registerHooks } from 'node:module'

registerHooks({
  load: (url, context, next) => {
    if (url.includes('/node_modules/')) process.stdout.write(`loaded ${url}\n`)
    return next(url, context)
  },
})
await import('../../src/main.ts')
