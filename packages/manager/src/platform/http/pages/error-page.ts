// What a page says when it cannot show what was asked for.
import type { AppError, ErrorCode } from '../../errors.ts'
import { html } from './html.ts'
import type { Page } from './send-page.ts'

type Advice = { title: string; next: string }

const advice: Partial<Record<ErrorCode, Advice>> = {
  bad_request: {
    title: 'This request is not complete',
    next: 'Go back, correct what the reason names, and send it again.',
  },
  unauthenticated: { title: 'You are not signed in', next: 'Sign in, then open this page again.' },
  forbidden: {
    title: 'This request was refused',
    next: 'Nothing was changed. Open the page again by its own address, and use the form there.',
  },
  not_found: { title: 'Not found', next: 'Check the address, or begin again.' },
  conflict: {
    title: 'Something has changed since',
    next: 'Nothing was recorded. Open the page again and look at what is new, then decide.',
  },
  gone: { title: 'This is no longer possible', next: 'Begin again if you still need it.' },
  rate_limited: { title: 'Too many tries', next: 'Wait a while, then try again.' },
  unavailable: { title: 'Not available at the moment', next: 'Wait a moment, then try again.' },
}
const notPermitted: Advice = {
  title: 'You do not have access to this',
  next: 'Ask an administrator for the role that the reason names, or sign in as somebody who has it.',
}
const unexpected: Advice = {
  title: 'Something went wrong',
  next: 'Try again. If it stays like this, tell your operator the request id.',
}

/** The page of a failure: what to do next, and what happened, in its own words. */
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
