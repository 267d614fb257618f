import react from '@vitejs/plugin-react'
import { type Plugin, defineConfig } from 'vite'

/** Address of the Manager to which `npm run dev -w packages/console` forwards requests. */
const manager = process.env['MANAGER_URL'] ?? 'http://127.0.0.1:8080'

/**
 * react-aria contains its own texts, such as the names of close buttons, in 34 languages. The console keeps two of
 * them. For other languages, the library uses English.
 */
const dropLanguages: Plugin = {
  name: 'drop-languages',
  load: {
    filter: { id: /\/react-aria[a-z-]*\/dist\/.*\/(?!en-US|de-DE)[a-z]{2}-[A-Z]{2}\.mjs$/ },
    handler: () => 'export default null',
  },
}

export default defineConfig({
  base: '/console/',
  plugins: [react(), dropLanguages],
  build: {
    target: 'es2024',
    manifest: true,
    // Small files are never inlined as data: addresses, so that the policy header can forbid such addresses for
    // scripts.
    assetsInlineLimit: 0,
    // The polyfill would add an inline script, which the policy of the page forbids.
    modulePreload: { polyfill: false },
  },
  server: {
    host: '127.0.0.1',
    proxy: { '/query': manager, '/api': manager, '/comms': manager, '/pilets': manager },
  },
})
