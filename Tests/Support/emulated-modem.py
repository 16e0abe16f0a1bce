"""A modem for the real ModemManager: answers AT commands (3GPP TS 27.007) on an abstract socket.

    emulated-modem.py NAME

The program prints `ready` when it listens. It reads lines from its standard input, and prints each
line again when it has carried it out:

    ring            begins a call from another phone
    end             ends the call, as the other phone does
    cell LAC CI     moves the modem to cell CI of area LAC, both as hexadecimal numbers
    no cell         makes the modem lose its network

The modem has one call at most. It answers commands that a telephone does not need with an error.
The program ends with its input.
"""

import select
import socket
import sys

DONE = {
    "", "E0", "V1", "X4", "Z", "&C1", "H", "+CMEE=1", "+CFUN=1", "+CREG=2", "+COPS=3,0",
    "+COPS=3,2", "+CLIP=1", "+CRC=1", "+CCWA=1", "+CLCC=?",
}
VALUES = {
    "+GCAP": "+GCAP: +CGSM", "+CGMI": "Test", "+CGMM": "Modem", "+CGMR": "1",
    "+CGSN": "490154203237518", "+CIMI": "262019876543210", "+CPIN?": "+CPIN: READY",
    "+CFUN?": "+CFUN: 1", "+CSQ": "+CSQ: 20,99", "+CREG?": '+CREG: 2,1,"04D8","001122CC"',
    "+COPS?": '+COPS: 0,2,"26201",2',
    # The number of the SIM card. ModemManager asks again after a second if it gets none.
    "+CRSM=176,12258,0,0,10": '+CRSM: 144,0,"98942010325476981032"',
}
ANSWERED, RINGING = 0, 4
NUMBER = '"+491234567",145'
call = None
listener = socket.socket(socket.AF_UNIX)
listener.bind("\0" + sys.argv[1])
listener.listen()
print("ready", flush=True)
port, received = None, ""


def send(*lines):
    port.sendall("".join(f"\r\n{line}\r\n" for line in lines).encode())


def answer(command):
    global call
    if command in ("A", "+CHUP"):
        call = ANSWERED if command == "A" else None
    elif command == "+CLCC":
        if call is not None:
            send(f"+CLCC: 1,1,{call},0,0,{NUMBER}")
    else:
        for part in command.split(";"):
            if part in VALUES:
                send(VALUES[part])
            elif part not in DONE:
                return send("ERROR")
    send("OK")


while True:
    # ModemManager connects once to recognize the modem, and again to use it.
    ready, _, _ = select.select([port or listener, sys.stdin], [], [])
    if listener in ready:
        port, received = listener.accept()[0], ""
    elif port in ready:
        data = port.recv(4096)
        if not data:
            port.close()
            port = None
        received += data.decode()
        while "\r" in received:
            command, received = received.split("\r", 1)
            answer(command.strip().removeprefix("AT"))
    if sys.stdin in ready:
        word = sys.stdin.readline().strip()
        if word == "ring":
            call = RINGING
            send("+CRING: VOICE", f"+CLIP: {NUMBER}")
        elif word == "end":
            call = None
            send("NO CARRIER")
        elif word.startswith("cell "):
            cell = '"{}","{}"'.format(*word.split()[1:])
            VALUES["+CREG?"] = "+CREG: 2,1," + cell
            send("+CREG: 1," + cell)
        elif word == "no cell":
            VALUES["+CREG?"] = "+CREG: 2,2"
            send("+CREG: 2")
        else:
            break
        print(word, flush=True)
