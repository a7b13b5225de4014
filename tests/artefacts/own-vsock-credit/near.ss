Netid State  Recv-Q Send-Q Local Address:Port    Peer Address:Port Process
v_str ESTAB  0      0                  3:1031               2:9999  users:(("uploader",pid=812,fd=7)) ino:48211 sk:7
