// English texts for invitations.
import { createPlural } from './plural.ts'

const plural = createPlural('en')

export const invitations = {
  'invitations.accept': 'Accept invitation',
  'invitations.accepted': 'You are now a member',
  'invitations.acceptedHint': (object: string, role: string) => `Your role in ${object} is ${role}.`,
  'invitations.by': (person: string) => `Invited by ${person}`,
  'invitations.created': (email: string) => `Invitation for ${email}`,
  'invitations.days': (count: number) => plural(count, { one: '# day', other: '# days' }),
  'invitations.defaultDays': 'Default',
  'invitations.delivered': (email: string) =>
    `The link was handed over for delivery to ${email}. You can also send it yourself.`,
  'invitations.email': 'E-mail address',
  'invitations.expires': 'Expires',
  'invitations.forAnybody':
    'Anyone who gets the link can accept the invitation. Send it only over a channel that you trust.',
  'invitations.invite': 'Invite',
  'invitations.invitedTo': (object: string) => `You are invited to ${object}`,
  'invitations.inviter': 'Invited by',
  'invitations.inviteTo': (object: string) => `Invite a person to ${object}`,
  'invitations.kind.application': 'Application',
  'invitations.kind.project': 'Project',
  'invitations.kind.tenant': 'Tenant',
  'invitations.link': 'Invitation link',
  'invitations.many': 'Invitations',
  'invitations.manyTo': (object: string) => `Invitations to ${object}`,
  'invitations.none': 'No open invitations.',
  'invitations.notDelivered': 'The link could not be handed over for delivery. Copy it and send it yourself.',
  'invitations.noToken': 'No invitation in the address',
  'invitations.noTokenHint':
    'Open the link from your invitation again. If you had to sign in, the link was lost.',
  'invitations.one': 'Invitation',
  'invitations.onlyForEmail': 'Only a person who signs in with this e-mail address can accept',
  'invitations.open': 'Open invitations',
  'invitations.openProject': (project: string) => `Open ${project}`,
  'invitations.revoke': 'Revoke',
  'invitations.revoked': (email: string) => `Revoked the invitation for ${email}`,
  'invitations.revokeHint': 'The link stops working immediately. You can invite the person again.',
  'invitations.revokeOf': (email: string) => `Revoke the invitation for ${email}`,
  'invitations.revokeTitle': (email: string) => `Revoke the invitation for ${email}?`,
  'invitations.sendLink': (email: string) => `Send this link to ${email}. The Manager does not send e-mails.`,
  'invitations.signedInAs': (email: string) => `You are signed in as ${email}.`,
  'invitations.unusable': 'You cannot use this invitation',
  'invitations.unusableHint':
    'The invitation may have expired, been revoked or been accepted already, or it is for another e-mail address. Ask the person who invited you for a new link.',
  'invitations.validity': 'Valid for',
}
