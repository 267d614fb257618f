// English texts for the account page and for personal access tokens.
import { createPlural } from './plural.ts'

const plural = createPlural('en')

export const me = {
  // me
  'me.administratorHint': 'As an administrator you have every permission in every project.',
  'me.chooseDay': 'Choose a last day to continue',
  'me.expiresOn': (date: string) => `The token stops working on ${date}.`,
  'me.inbox.all': 'All',
  'me.inbox.unread': 'Unread',
  'me.inboxAllRead': 'Everything is read',
  'me.inboxAllReadHint': 'New notifications appear here and at the bell.',
  'me.inboxEmpty': 'No notifications yet',
  'me.inboxEmptyHint':
    'Applications send notifications about your tenants. They appear here and at the bell.',
  'me.inboxMore': 'Show older notifications',
  'me.inboxPartial':
    'You have access to many tenants and applications. The list covers 200 of these combinations.',
  'me.inboxShow': 'Notifications to show',
  'me.inboxShowAll': 'Show all',
  'me.languageHint': 'Numbers and dates follow the region of the browser.',
  'me.lastDay': 'Last day',
  'me.lifetime.30': '30 days',
  'me.lifetime.365': '1 year',
  'me.lifetime.7': '7 days',
  'me.lifetime.90': '90 days',
  'me.lifetime.day': 'On a day …',
  'me.lifetime.never': 'Never',
  'me.marked': (count: number) =>
    count === 0
      ? 'No notification was unread'
      : plural(count, { one: 'Marked # notification as read', other: 'Marked # notifications as read' }),
  'me.markedPartly': (count: number) =>
    `${plural(count, { one: 'Marked # notification as read', other: 'Marked # notifications as read' })}. Some are still unread: repeat it.`,
  'me.neverHint':
    'A token without an end works until you revoke it. Prefer an end and renew the token in time.',
  'me.newToken': 'New token',
  'me.noTokenMatchHint': 'The filter hides all of your tokens.',
  'me.noTokens': 'No tokens yet',
  'me.noTokensHint':
    'Scripts and command-line clients sign in with a personal access token. It acts as you, with all of your roles.',
  'me.preferencesHint': 'This browser remembers both settings. Other browsers keep theirs.',
  'me.profile': 'Profile',
  'me.profileHint': 'Your name and e-mail address come from the sign-in of your organization.',
  'me.searchTokens': 'Name of the token',
  'me.show.any': 'any',
  'me.show.revoked': 'revoked',
  'me.show.valid': 'not revoked',
  'me.tab.access': 'My access',
  'me.tab.account': 'Account',
  'me.tab.inbox': 'Notifications',
  'me.tab.preferences': 'Preferences',
  'me.tab.tokens': 'Access tokens',
  'me.themeHint': 'Light, dark, or the setting of your device.',
  'me.tokenCreated': (name: string) => `Token ${name}`,
  'me.tokenNameHint': 'Where the token is used, such as “deploy script on build-2”.',
  'me.tokenUseHint': 'Send it in the header Authorization as a Bearer token. Requests with it act as you.',
  'me.userHint': 'Your roles decide your permissions.',

  // token
  'token.created': 'Created',
  'token.deleteHint':
    'Requests with the token are rejected immediately, and it disappears from all lists. You cannot undo this. The audit trail remains.',
  'token.deleteTitle': (name: string) => `Delete token ${name}?`,
  'token.expires': 'Expires',
  'token.expiresIn': (days: number) =>
    days === 0 ? 'Expires today' : plural(days, { one: 'Expires in # day', other: 'Expires in # days' }),
  'token.id': 'Token id',
  'token.lastUsed': 'Last used',
  'token.name': 'Name',
  'token.noMatch': 'No token matches',
  'token.notFound': 'This token does not exist',
  'token.notFoundHint': 'It was deleted, or it belongs to another person.',
  'token.one': 'Token',
  'token.recentUse': (time: string) => `The token was last used ${time}. Replace it at its clients first.`,
  'token.revoke': 'Revoke',
  'token.revokedToast': (name: string) => `Revoked ${name}`,
  'token.revokeHint':
    'Requests with the token are rejected immediately. You cannot undo this. The token stays in the lists as revoked.',
  'token.revokeTitle': (name: string) => `Revoke token ${name}?`,
  'token.state.active': 'Active',
  'token.state.expired': 'Expired',
  'token.state.revoked': 'Revoked',
  'token.status': 'Status',
}
