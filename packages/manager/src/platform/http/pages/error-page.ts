// The page that replaces another one when an error occurs.
import type { AppError, ErrorCode } from '../../errors.ts'
import { html } from './html.ts'
import type { Page } from './send-page.ts'

type Advice = { title: string; next: string }

const advice: Partial<Record<ErrorCode, Advice>> = {
  bad_request: {
    title: 'Invalid request',
    next: 'Go back, correct the problem below, and send the form again.',
  },
  unauthenticated: { title: 'You are not signed in', next: 'Sign in, then open this page again.' },
  forbidden: {
    title: 'This request was rejected',
    next: 'Nothing was changed. Open the page directly at its own address, and use the form there.',
  },
  not_found: { title: 'Not found', next: 'Check the address, or start again.' },
  conflict: {
    title: 'The data has changed',
    next: 'Nothing was recorded. Open the page again, review the changes, then decide.',
  },
  gone: { title: 'This is no longer possible', next: 'Start again if you still need it.' },
  rate_limited: { title: 'Too many attempts', next: 'Wait a while, then try again.' },
  unavailable: { title: 'Not available at the moment', next: 'Wait a moment, then try again.' },
}
const notPermitted: Advice = {
  title: 'You do not have access to this',
  next: 'Ask an administrator for the role named below, or sign in with an account that has it.',
}
const unexpected: Advice = {
  title: 'Something went wrong',
  next: 'Try again. If the problem persists, report the request id to your operator.',
}

/** Returns the page for a failure: the next step, and the message of the error. */
export function errorPage(failure: AppError, requestId: string): Page {
  const { title, next } = failure.isNotPermitted ? notPermitted : (advice[failure.code] ?? unexpected)
  return {
    title,
    main: html`<h1>${title}</h1>
      <p>${next}</p>
      <p>Reason: ${failure.message}.</p>
      <p class="soft">Request id: ${requestId}</p>`,
  }
}
