import { Command } from 'commander'
import { dropUndefined, parseGiven } from '../../args/drop-undefined.ts'
import { parseInteger, parseState } from '../../args/flags.ts'
import { examples } from '../../args/help.ts'
import { loginName } from '../../args/operator-identity.ts'
import { Interruption } from '../../process/interruption.ts'
import type { Shell } from '../../session/shell.ts'
import { deliveriesText, webhookText, webhooksText } from '../../text/webhook-text.ts'
import { defineCommand, rotateCommand } from './define-webhook.ts'

const NAME = 'the name of the webhook'

export function webhooksCommand(shell: Shell): Command {
  return new Command('webhooks')
    .description('the endpoints to which events are sent; define, show, rotate, disable, enable or delete one')
    .addCommand(defineCommand(shell))
    .addCommand(showCommand(shell))
    .addCommand(rotateCommand(shell))
    .addCommand(holdCommand(shell, 'disable', 'stop deliveries; events wait in the log'))
    .addCommand(holdCommand(shell, 'enable', 'resume deliveries'))
    .addCommand(deleteCommand(shell))
    .addCommand(deliveriesCommand(shell))
    .addCommand(redeliverCommand(shell))
    .addCommand(deliverCommand(shell))
    .addHelpText('after', examples(['webhooks', 'webhooks define crm https://crm.example.com/hooks --family flows']))
    .action(async (_flags: object, command: Command) => {
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        const items = await fabric.webhooks.list()
        if (output.isJson || items.length > 0) await output.answer({ items }, () => webhooksText(items, output))
        else output.remark('There are none.')
      })
    })
}

function showCommand(shell: Shell): Command {
  return new Command('show')
    .description('one webhook: its URL, its filter, its state and its last error')
    .argument('<name>', NAME)
    .addHelpText('after', examples(['webhooks show crm']))
    .action(async (name: string, _flags: object, command: Command) => {
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        const webhook = await fabric.webhooks.describe(name)
        await output.answer(webhook, () => webhookText(webhook))
      })
    })
}

function holdCommand(shell: Shell, verb: 'disable' | 'enable', description: string): Command {
  const command = new Command(verb).description(description).argument('<name>', NAME)
  if (verb === 'disable') command.option('--reason <text>', 'why, shown with the webhook')
  return command
    .addHelpText('after', examples([`webhooks ${verb} crm`]))
    .action(async (name: string, { reason }: { readonly reason?: string }, given: Command) => {
      await shell.withFabric(given, {}, async ({ fabric, output }) => {
        const { webhooks } = fabric
        const changed =
          verb === 'enable'
            ? await webhooks.enable(name)
            : await webhooks.disable(name, { by: loginName(), ...dropUndefined({ reason }) })
        await output.answer(changed, () => `Webhook ${name} is ${changed.state}.`)
      })
    })
}

function deleteCommand(shell: Shell): Command {
  return new Command('delete')
    .description('delete a webhook with its secrets and its position')
    .argument('<name>', NAME)
    .addHelpText('after', examples(['webhooks delete crm']))
    .action(async (name: string, _flags: object, command: Command) => {
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        await fabric.webhooks.delete(name)
        await output.answer({ name, deleted: true }, () => `Webhook ${name} is deleted.`)
      })
    })
}

interface DeliveryFlags {
  readonly state?: string
  readonly limit?: string
  readonly cursor?: string
}

function deliveriesCommand(shell: Shell): Command {
  return new Command('deliveries')
    .description('the deliveries of a webhook, newest first')
    .argument('<name>', NAME)
    .option('--state <state>', 'only in this state: waiting, delayed, active, completed, failed, …')
    .option('--limit <number>', 'at most this many, up to 200 (default: 50)')
    .option('--cursor <cursor>', 'continue after the previous page')
    .addHelpText('after', examples(['webhooks deliveries crm --state failed']))
    .action(async (name: string, flags: DeliveryFlags, command: Command) => {
      const state = parseGiven(flags.state, parseState)
      const limit = parseGiven(flags.limit, (text) => parseInteger(text, '--limit'))
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        const page = await fabric.webhooks.deliveries(name, dropUndefined({ state, limit, cursor: flags.cursor }))
        if (output.isJson || page.items.length > 0) await output.answer(page, () => deliveriesText(page.items, output))
        if (page.cursor !== undefined) output.remark(`There may be more: add --cursor ${page.cursor}`)
        else if (page.items.length === 0) output.remark('There are none.')
      })
    })
}

function redeliverCommand(shell: Shell): Command {
  return new Command('redeliver')
    .description('deliver an event again, with the same id and body')
    .argument('<name>', NAME)
    .argument('<delivery>', 'the id of a delivery that has ended')
    .addHelpText('after', examples(['webhooks redeliver crm 3-0198a2c4-6f1e-7d3a-9b21-5c0e8d7f4a11']))
    .action(async (name: string, delivery: string, _flags: object, command: Command) => {
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        await fabric.webhooks.redeliver(name, delivery, { by: loginName() })
        await output.answer({ id: delivery, redelivered: true }, () => `${delivery} is delivered again.`)
      })
    })
}

interface DeliverFlags {
  readonly allowPrivate?: boolean
  readonly concurrency?: string
}

function deliverCommand(shell: Shell): Command {
  return new Command('deliver')
    .description('send the events of all webhooks, until ctrl-c; needs the key ring')
    .option('--concurrency <number>', 'requests at the same time (default: 16)')
    .option('--allow-private', 'send to private hosts and over http too, for tests')
    .addHelpText('after', examples(['webhooks deliver']))
    .action(async ({ allowPrivate, concurrency }: DeliverFlags, command: Command) => {
      const count = parseGiven(concurrency, (text) => parseInteger(text, '--concurrency'))
      await shell.withFabric(command, {}, async ({ fabric, output }) => {
        using interruption = new Interruption()
        await using deliverer = fabric.deliverWebhooks(dropUndefined({ allowPrivate, concurrency: count }))
        interruption.signal.addEventListener('abort', () => void deliverer.close(), { once: true })
        output.remark('Delivering webhooks until ctrl-c.')
        await deliverer.closed
        shell.exitCode = interruption.exitCode ?? shell.exitCode
      })
    })
}
