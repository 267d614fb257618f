// Starts the console: loads the texts, and sets up queries and routes.
import './styles/tokens.css'
import './styles/base.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queryClient } from './api/query-client.ts'
import { recoverFocus, trackFocus } from './kit/return-focus.ts'
import { applyTheme } from './kit/theme.ts'
import { ToastRegion } from './kit/toast.tsx'
import { router } from './router.tsx'
import { LanguageProvider } from './texts/language.tsx'

applyTheme()
// A browser can restore a page with all of its data, even after the person has signed out.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload()
})
const root = document.querySelector('#root')
if (root === null) throw new Error('the page has no element #root')
trackFocus(root)
router.subscribe('onRendered', recoverFocus)
createRoot(root).render(
  <StrictMode>
    <LanguageProvider>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
        <ToastRegion />
      </QueryClientProvider>
    </LanguageProvider>
  </StrictMode>,
)
