/** A program in Python that sends one message over MLLP and prints the answer; it needs no library. */

/** @param segments the message's segments without their CR */
export const mllpProgram = (host: string, port: number, segments: readonly string[]): string => `import socket

message = "\\r".join([
${segments.map((segment) => `    ${JSON.stringify(segment)},`).join('\n')}
]) + "\\r"
with socket.create_connection(("${host}", ${port})) as connection:
    connection.sendall(b"\\x0b" + message.encode() + b"\\x1c\\r")
    answer = b""
    while not answer.endswith(b"\\x1c\\r"):
        received = connection.recv(65536)
        if not received:
            break
        answer += received
print(answer.strip(b"\\x0b\\x1c\\r").decode().replace("\\r", "\\n"))
`;
